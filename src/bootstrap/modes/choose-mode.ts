import type { Logger } from '../../application/ports/logger.js';
import type { CommandLine } from '../configuration/command-line.js';
import { withMode } from '../configuration/proxy-configuration.js';
import { RELEASES } from '../configuration/releases.js';
import type { Configuration } from '../configuration/schema.js';
import { IptablesMode } from './iptables-mode.js';
import { IpvsMode } from './ipvs-mode.js';
import type { Mode } from './mode.js';
import { NftablesMode } from './nftables-mode.js';
import { UserspaceMode } from './userspace-mode.js';

/** Every mode that this program has. Connections of IPVS mode may take their time to end, so it is the last to be cleaned up. */
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
 * The mode that was requested. An unset mode is iptables, as with kube-proxy; `auto` is nftables if this kernel supports
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

/** By `npm run bench`, as in docs/evidence/performance.md: 10,000 services of 5 endpoints. */
const GAIN =
  'with 10,000 services of 5 endpoints: first sync 0.5 s, one changed endpoint 0.1 ms, and packets match their service by one lookup instead of thousands of rules';

/** If no mode is configured: logs which one is used, and what nftables would gain on this machine. */
export async function suggestNftables({ configuration }: CommandLine, logger: Logger): Promise<void> {
  if (configuration.mode !== '') return;
  const problem = await new NftablesMode(logger).problem();
  const advice =
    problem === undefined
      ? 'This node supports nftables: set --proxy-mode=nftables or auto'
      : 'nftables, which is faster, is unavailable on this node';
  const facts = problem === undefined ? { gain: GAIN } : { problem };
  logger.info(facts, `no proxy mode is configured; using iptables. ${advice}`);
}

/**
 * Notes for people about the mode, with the releases of Kubernetes that change or remove it: for the log at the start, and an event about
 * the Node.
 */
export interface ModeNotice {
  readonly severity: 'info' | 'warn' | 'error';
  /** Of the event; missing: there is none. */
  readonly reason?: string;
  readonly note: string;
}

/**
 * Undefined when there is nothing to report (docs/internals/spec/changes-1.37.md §2).
 * @param asked the configuration before the mode was chosen
 */
export function modeNotice(asked: Pick<Configuration, 'mode' | 'kubernetesVersion'>): ModeNotice | undefined {
  const { ipvsEnds, iptablesEnds, modeUnset } = RELEASES[asked.kubernetesVersion];
  if (asked.mode === 'ipvs') return { severity: 'error', reason: 'IPVSDeprecation', note: ipvsEnds };
  if (asked.mode === 'iptables')
    return iptablesEnds === undefined ? undefined : { severity: 'info', note: iptablesEnds };
  return asked.mode === '' && modeUnset !== undefined
    ? { severity: 'warn', reason: 'ProxyModeUnset', note: modeUnset }
    : undefined;
}
