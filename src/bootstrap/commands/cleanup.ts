import { GenerationWatch } from '../../adapters/nftables/generation-watch.js';
import { NftablesBackend } from '../../adapters/nftables/nftables-backend.js';
import type { Logger } from '../../application/ports/logger.js';
import { IP_FAMILIES } from '../../domain/net/ip-family.js';
import type { CommandLine } from '../configuration/command-line.js';
import { openNftTransports } from '../nft-transport.js';

/** Use case Cleanup: removes everything that the proxy ever makes. 1 when something could not be removed. */
export async function cleanup(commandLine: CommandLine, logger: Logger): Promise<number> {
  const transports = await openNftTransports(commandLine.nftTransport, logger);
  const generations = new GenerationWatch(transports.generations);
  let failures = 0;
  for (const family of IP_FAMILIES) {
    try {
      await new NftablesBackend(family, transports.families[family], generations, logger).cleanup();
    } catch (error) {
      failures++;
      logger.error({ family, error }, 'encountered an error while tearing down rules');
    }
  }
  await transports.close();
  return failures === 0 ? 0 : 1;
}
