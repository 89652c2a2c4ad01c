import type { NftTransport } from '../adapters/nftables/transport.js';
import type { Logger } from '../application/ports/logger.js';
import type { CommandLine } from './configuration/command-line.js';

/**
 * The transport that was asked for, or with `auto` netlink where it is to be had and the nft tool elsewhere. Rejects
 * when the one that was asked for is not to be had.
 */
export async function openNftTransport(
  wish: CommandLine['nftTransport'],
  logger: Logger,
): Promise<NftTransport> {
  if (wish !== 'cli') {
    try {
      const { NetlinkNftTransport } = await import('../adapters/nftables/netlink/netlink-transport.js');
      return await NetlinkNftTransport.open();
    } catch (error) {
      if (wish === 'netlink') throw error;
      logger.warn({ error }, 'netlink is not to be had; using the nft tool');
    }
  }
  const { CliNftTransport } = await import('../adapters/nftables/cli/cli-transport.js');
  return new CliNftTransport();
}
