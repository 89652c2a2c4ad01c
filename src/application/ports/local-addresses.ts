/** The addresses of this machine's interfaces, of both families, as they are now. Canonical text without zones. */
export interface LocalAddresses {
  list(): readonly string[];
}
