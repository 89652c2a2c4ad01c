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
 * Opens the mode that was asked for. `auto` takes nftables where this kernel has it and iptables elsewhere; so does an
 * unset mode until iptables, which is kube-proxy's default, is complete here.
 */
export async function chooseMode(commandLine: CommandLine, logger: Logger): Promise<ChosenMode> {
  const { configuration, nftTransport } = commandLine;
  const settled = (name: 'nftables' | 'iptables') => ({
    ...commandLine,
    configuration: withMode(configuration, name),
  });
  const nftables = new NftablesMode(nftTransport, logger);
  const iptables = new IptablesMode(configuration.iptables.localhostNodePorts, logger);
  switch (configuration.mode) {
    case 'nftables':
      return { commandLine: settled('nftables'), mode: await nftables.open() };
    case 'iptables':
      return { commandLine: settled('iptables'), mode: await iptables.open() };
    case 'ipvs':
      throw new ConfigurationError('failed validate', [
        'mode ipvs is not available yet: use nftables or iptables',
      ]);
    default:
      try {
        return { commandLine: settled('nftables'), mode: await nftables.open() };
      } catch (error) {
        logger.warn({ error }, 'nftables is not to be had; using iptables');
        return { commandLine: settled('iptables'), mode: await iptables.open() };
      }
  }
}
