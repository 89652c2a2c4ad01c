/** The way that this machine's packets to an address take. */
export interface Route {
  /** The address that the machine puts on its own packets as their source. */
  readonly source: string;
  /** The name of the device that they leave through; `lo` for the machine's own addresses. */
  readonly device: string;
  /** The neighbour that they are handed to; missing if the destination itself is one. */
  readonly gateway?: string;
}

/** The routes of this machine, as they are when they are asked for. Changes nothing, and needs no privileges. */
export interface Routes {
  /** Undefined: there is no route to the address. Rejects with a typed error if the kernel cannot be asked. */
  to(address: string): Promise<Route | undefined>;

  /** Idempotent. */
  close(): Promise<void>;
}
