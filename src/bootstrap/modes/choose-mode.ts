import type { Logger } from '../../application/ports/logger.js';
import type { CommandLine } from '../configuration/command-line.js';
import { withMode } from '../configuration/proxy-configuration.js';
import { IptablesMode } from './iptables-mode.js';
import { IpvsMode } from './ipvs-mode.js';
import { NftablesMode } from './nftables-mode.js';
import type { Mode } from './open-mode.js';
import { UserspaceMode } from './userspace-mode.js';

/** Every mode that this program has, for clean-up. Connections of mode ipvs may take their time to end, so it is the last. */
export function allModes({ configuration }: CommandLine, logger: Logger): readonly Mode[] {
  return [
    new IptablesMode(false, logger),
    new NftablesMode(logger),
    new UserspaceMode(configuration, logger),
    new IpvsMode(configuration.ipvs, logger),
  ];
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

async function modeAskedFor({ configuration }: CommandLine, logger: Logger): Promise<Mode> {
  const nftables = new NftablesMode(logger);
  const iptables = new IptablesMode(configuration.iptables.localhostNodePorts, logger);
  switch (configuration.mode) {
    case 'nftables':
      return nftables;
    case '':
    case 'iptables':
      return iptables;
    case 'userspace':
      return new UserspaceMode(configuration, logger);
    case 'ipvs':
      return new IpvsMode(configuration.ipvs, logger);
    case 'auto': {
      const problem = await nftables.problem();
      if (problem === undefined) return nftables;
      logger.warn({ problem }, 'nftables is unavailable; falling back to iptables');
      return iptables;
    }
  }
}
