import { NetlinkNftTransport } from '../../adapters/nftables/netlink/netlink-transport.js';
import type { NftTransport } from '../../adapters/nftables/transport.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/** Access to nftables: a transport for each family, so that none waits for another, and one to ask for the generation. */
export interface NftTransports {
  readonly families: Readonly<Record<IpFamily, NftTransport>>;
  readonly generations: NftTransport;
  close(): Promise<void>;
}

/** @throws NetlinkError where netlink is unavailable */
export function openNftTransports(): NftTransports {
  const families = { IPv4: NetlinkNftTransport.open(), IPv6: NetlinkNftTransport.open() };
  const generations = NetlinkNftTransport.open();
  const all = [families.IPv4, families.IPv6, generations];
  const close = async () => void (await Promise.all(all.map((transport) => transport.close())));
  return { families, generations, close };
}
