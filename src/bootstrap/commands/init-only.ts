import { NetlinkConntrack } from '../../adapters/conntrack/netlink-conntrack.js';
import type { EventRecorder } from '../../application/ports/event-recorder.js';
import type { Logger } from '../../application/ports/logger.js';
import type { CommandLine } from '../configuration/command-line.js';
import { protocolsToReset } from '../family/served-family.js';
import { setUpHost } from '../node/host-setup.js';
import { chooseMode } from '../modes/choose-mode.js';

/** Nothing is sent to the API server. What matters is logged as well. */
const NO_EVENTS: EventRecorder = { record: () => undefined };

/**
 * Does what needs privileges once, as an init container would, and ends: checks the mode, and sets connection tracking and what
 * the mode needs (docs/spec/server.md §4, §5.2, §5.4). Rules stay as they are, those of other modes too: they go when new ones
 * stand.
 */
export async function initOnly(asked: CommandLine, logger: Logger): Promise<number> {
  const { commandLine, mode: chosen } = await chooseMode(asked, logger);
  const mode = await chosen.open();
  try {
    setUpHost(commandLine, NO_EVENTS, logger);
    await mode.setUp?.();
    if (protocolsToReset(mode, commandLine.configuration).includes('SCTP')) countPackets(logger);
  } finally {
    await mode.close();
  }
  logger.info(
    { mode: mode.name, ...mode.means, families: mode.families },
    'initialized; exiting because of --init-only',
  );
  return 0;
}

/** Whether there will be a Service of SCTP is not known here, and the proxy itself may not be able to set it later. */
function countPackets(logger: Logger): void {
  try {
    new NetlinkConntrack().countPackets();
  } catch (error) {
    logger.warn({ error }, 'packets of SCTP associations will not be counted');
  }
}
