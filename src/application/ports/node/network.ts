import type { IpFamily } from '../../../domain/net/ip-family.js';

/** The current addresses of this machine's interfaces, of both families. Canonical text without zones. */
export interface LocalAddresses {
  list(): readonly string[];

  /** Reports added and removed addresses from now on, until closed. Missing if the source can only be polled. */
  follow?(onChange: () => void): void;

  /** Releases everything; `list` then returns the last known addresses. Idempotent. */
  close?(): void;
}

/**
 * The kernel settings that control forwarding on this machine, read at each call. Changes nothing, and needs no privileges.
 * A setting is described for people, such as `net.ipv4.ip_forward is 0`; an unreadable one counts as correct.
 */
export interface PacketForwarding {
  /**
   * The setting that keeps packets of a family from being forwarded. Undefined: they are forwarded.
   * @param device through which they come in; missing: any
   */
  disabledBy(family: IpFamily, device?: string): string | undefined;

  /**
   * The setting by which packets between two ports of this bridge meet no rule and no connection tracking. Undefined: they meet
   * both, or the device is no bridge. Rejects with a typed error if the lookup fails.
   */
  unfilteredBy(family: IpFamily, device: string): Promise<string | undefined>;

  /** Idempotent. */
  close(): Promise<void>;
}

/** The route of this machine's packets to an address. */
export interface Route {
  /** The address that the machine puts on its own packets as their source. */
  readonly source: string;
  /** The name of the device that they leave through; `lo` for the machine's own addresses. */
  readonly device: string;
  /** The neighbour that they are handed to; missing if the destination itself is one. */
  readonly gateway?: string;
}

/** The routes of this machine, looked up at each call. Changes nothing, and needs no privileges. */
export interface Routes {
  /** Undefined: there is no route to the address. Rejects with a typed error if the lookup fails. */
  to(address: string): Promise<Route | undefined>;

  /** Idempotent. */
  close(): Promise<void>;
}
