import type { NftTransport } from '../../adapters/nftables/transport.js';
import type { Logger } from '../../application/ports/logger.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { CommandLine } from '../configuration/command-line.js';

/** Access to nftables: a transport for each family, so that none waits for another, and one to ask for the generation. */
export interface NftTransports {
  readonly name: NftTransport['name'];
  readonly families: Readonly<Record<IpFamily, NftTransport>>;
  readonly generations: NftTransport;
  close(): Promise<void>;
}

/**
 * The transport that was asked for; with `auto`, netlink if it is available and the nft tool otherwise. Rejects when the
 * one that was asked for is unavailable.
 */
export async function openNftTransports(
  wish: CommandLine['nftTransport'],
  logger: Logger,
): Promise<NftTransports> {
  const open = await chooseTransport(wish, logger);
  const families = { IPv4: await open(), IPv6: await open() };
  const generations = await open();
  const all = [families.IPv4, families.IPv6, generations];
  const close = async () => void (await Promise.all(all.map((transport) => transport.close())));
  return { name: generations.name, families, generations, close };
}

/** A netlink transport, or undefined if netlink is unavailable. */
export async function netlinkIfAny(): Promise<NftTransport | undefined> {
  try {
    return await openNetlink();
  } catch {
    return undefined;
  }
}

async function openNetlink(): Promise<NftTransport> {
  const { NetlinkNftTransport } = await import('../../adapters/nftables/netlink/netlink-transport.js');
  return NetlinkNftTransport.open();
}

async function chooseTransport(
  wish: CommandLine['nftTransport'],
  logger: Logger,
): Promise<() => NftTransport | Promise<NftTransport>> {
  if (wish !== 'cli') {
    try {
      const first = await openNetlink();
      await first.close();
      return openNetlink;
    } catch (error) {
      if (wish === 'netlink') throw error;
      logger.warn({ error }, 'netlink is unavailable; using the nft tool');
    }
  }
  const { CliNftTransport } = await import('../../adapters/nftables/cli/cli-transport.js');
  return () => new CliNftTransport();
}
