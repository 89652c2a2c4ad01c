import type { IpFamily } from '../../../domain/net/ip-family.js';

/**
 * The kernel settings by which this machine passes packets on, as they are when they are asked for. Changes nothing, and needs no
 * privileges. A setting is described for people, such as `net.ipv4.ip_forward is 0`; one that cannot be read is taken to be right.
 */
export interface PacketForwarding {
  /**
   * The setting that keeps packets of a family from being forwarded. Undefined: they are forwarded.
   * @param device through which they come in; missing: any
   */
  disabledBy(family: IpFamily, device?: string): string | undefined;

  /**
   * The setting by which packets between two ports of this bridge meet no rule and no connection tracking. Undefined: they meet
   * both, or the device is no bridge. Rejects with a typed error if the kernel cannot be asked.
   */
  unfilteredBy(family: IpFamily, device: string): Promise<string | undefined>;

  /** Idempotent. */
  close(): Promise<void>;
}
