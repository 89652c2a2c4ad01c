/** The addresses of this machine's interfaces, of both families, as they are now. Canonical text without zones. */
export interface LocalAddresses {
  /** Opens what it reads from, before anything else is called. Missing where there is nothing to open. Idempotent. */
  open?(): void;

  list(): readonly string[];

  /** From now on, until closed, tells when an address came or went. Missing where that is found out by asking only. */
  follow?(onChange: () => void): void;

  /** Releases what it holds; addresses are those that were known last. Idempotent. */
  close?(): void;
}
