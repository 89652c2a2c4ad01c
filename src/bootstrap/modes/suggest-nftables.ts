import type { Logger } from '../../application/ports/logger.js';
import type { CommandLine } from '../configuration/command-line.js';
import { NftablesMode } from './nftables-mode.js';

/** By `npm run bench`, as in docs/performance.md: 10,000 services of 5 endpoints. */
const GAIN =
  'with 10,000 services of 5 endpoints: first sync 0.5 s, one changed endpoint 0.1 ms, and packets find their service at once, not after thousands of rules';

/** If no mode is configured: logs which one is used, and what nftables would gain on this machine. */
export async function suggestNftables({ configuration }: CommandLine, logger: Logger): Promise<void> {
  if (configuration.mode !== '') return;
  const problem = await new NftablesMode(logger).problem();
  if (problem === undefined)
    logger.info(
      { gain: GAIN },
      'no proxy mode is configured; using iptables. This node supports nftables: set --proxy-mode=nftables or auto',
    );
  else
    logger.info(
      { problem },
      'no proxy mode is configured; using iptables. nftables, which is faster, is unavailable on this node',
    );
}
