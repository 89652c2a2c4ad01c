import type { Logger } from '../../application/ports/logger.js';
import type { CommandLine } from '../configuration/command-line.js';
import { ConfigurationError } from '../configuration/errors.js';
import { withMode } from '../configuration/proxy-configuration.js';
import { IptablesMode } from './iptables-mode.js';
import { NftablesMode } from './nftables-mode.js';
import type { Mode, OpenMode } from './open-mode.js';

/** Every mode that this program has, for clean-up. */
export function allModes({ nftTransport }: CommandLine, logger: Logger): readonly Mode[] {
  return [new IptablesMode(false, logger), new NftablesMode(nftTransport, logger)];
}

/** A command line whose mode is settled, and that mode, open. */
export interface ChosenMode {
  readonly commandLine: CommandLine;
  readonly mode: OpenMode;
}

/**
 * Opens the mode that was asked for. `auto` takes nftables where this kernel has it, and iptables elsewhere; so does an
 * unset mode, until the iptables mode, which is kube-proxy's default, is complete here.
 */
export async function chooseMode(commandLine: CommandLine, logger: Logger): Promise<ChosenMode> {
  const { configuration, nftTransport } = commandLine;
  const nftables = new NftablesMode(nftTransport, logger);
  const iptables = new IptablesMode(configuration.iptables.localhostNodePorts, logger);
  const opened = async (mode: NftablesMode | IptablesMode): Promise<ChosenMode> => ({
    commandLine: { ...commandLine, configuration: withMode(configuration, mode.name) },
    mode: await mode.open(),
  });
  switch (configuration.mode) {
    case 'nftables':
      return opened(nftables);
    case 'iptables':
      return opened(iptables);
    case 'ipvs':
      throw new ConfigurationError('failed validate', [
        'mode ipvs is not available yet: use nftables or iptables',
      ]);
    case 'auto':
    case '':
      try {
        return await opened(nftables);
      } catch (error) {
        if (nftTransport !== 'auto') throw error;
        logger.warn({ error }, 'nftables is not to be had; using iptables');
        return opened(iptables);
      }
  }
}
