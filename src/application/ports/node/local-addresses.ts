/** The current addresses of this machine's interfaces, of both families. Canonical text without zones. */
export interface LocalAddresses {
  /** Opens what it reads from, before anything else is called. Missing where there is nothing to open. Idempotent. */
  open?(): void;

  list(): readonly string[];

  /** Reports added and removed addresses from now on, until closed. Missing if the source can only be polled. */
  follow?(onChange: () => void): void;

  /** Releases everything; `list` then returns the last known addresses. Idempotent. */
  close?(): void;
}
