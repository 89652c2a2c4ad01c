import type { Logger } from '../../application/ports/logger.js';
import type { CommandLine } from '../configuration/command-line.js';
import { withMode } from '../configuration/proxy-configuration.js';
import { IptablesMode } from './iptables-mode.js';
import { IpvsMode } from './ipvs-mode.js';
import { NftablesMode } from './nftables-mode.js';
import type { Mode } from './open-mode.js';
import { UserspaceMode } from './userspace-mode.js';

/** Every mode that this program has. Connections of mode ipvs may take their time to end, so it is the last to be cleaned up. */
function modesOf({ configuration }: CommandLine, logger: Logger) {
  return {
    iptables: new IptablesMode(configuration.iptables.localhostNodePorts, logger),
    nftables: new NftablesMode(logger),
    userspace: new UserspaceMode(configuration, logger),
    ipvs: new IpvsMode(configuration.ipvs, logger),
  };
}

/** For clean-up, in its order. */
export function allModes(commandLine: CommandLine, logger: Logger): readonly Mode[] {
  return Object.values(modesOf(commandLine, logger));
}

/** A command line with its mode chosen, and that mode. */
export interface ChosenMode {
  readonly commandLine: CommandLine;
  readonly mode: Mode;
}

/**
 * The mode that was asked for. An unset mode is iptables, as with kube-proxy; `auto` is nftables if this kernel supports
 * it, and iptables otherwise.
 */
export async function chooseMode(commandLine: CommandLine, logger: Logger): Promise<ChosenMode> {
  const mode = await modeAskedFor(commandLine, logger);
  const configuration = withMode(commandLine.configuration, mode.name);
  return { commandLine: { ...commandLine, configuration }, mode };
}

async function modeAskedFor(commandLine: CommandLine, logger: Logger): Promise<Mode> {
  const modes = modesOf(commandLine, logger);
  const { mode } = commandLine.configuration;
  if (mode !== 'auto') return modes[mode || 'iptables'];
  const problem = await modes.nftables.problem();
  if (problem === undefined) return modes.nftables;
  logger.warn({ problem }, 'nftables is unavailable; falling back to iptables');
  return modes.iptables;
}
