import { SystemClock } from '../../adapters/process/system-clock.js';
import type { Logger } from '../../application/ports/logger.js';
import type { LocalAddresses } from '../../application/ports/node/local-addresses.js';
import { TracedAddresses } from '../application/trace/traced-node.js';
import { IP_FAMILIES } from '../../domain/net/ip-family.js';
import type { ReadingModule } from '../../bootstrap/parts/reading-parts.js';
import { NodeAddresses } from '../../bootstrap/node/local-addresses.js';

/** How objects are read for a node that may be another machine than this one, whose addresses are here, too. */
export function otherMachine(logger: Logger) {
  const here: LocalAddresses = new NodeAddresses(new SystemClock(), logger);
  const replacements: ReadingModule = {
    localAddresses: ({ state }) => new TracedAddresses(here, () => state.node),
  };
  return { here, options: { families: IP_FAMILIES, replacements } };
}
