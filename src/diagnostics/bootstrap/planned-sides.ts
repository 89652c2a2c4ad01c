import type { PlannedMode } from '../adapters/cli/arguments/compare.js';
import { ComparisonError } from '../application/compare/comparison-error.js';
import type { FamilySides } from '../application/compare/family-sides.js';
import type { Logger } from '../../application/ports/logger.js';
import { methodOfScheduler } from '../../domain/balancing/balancing.js';
import { ForwardingTable } from '../../domain/forwarding/forwarding-table.js';
import { IP_FAMILIES } from '../../domain/net/ip-family.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { CommandLine } from '../../bootstrap/configuration/command-line.js';
import { withMode } from '../../bootstrap/configuration/proxy-configuration.js';
import { chooseMode } from '../../bootstrap/modes/choose-mode.js';
import { ModeRules } from '../../diagnostics/bootstrap/mode-rules.js';
import { otherMachine } from './other-machine.js';
import { readObjects } from './read-objects.js';

/** The node that rules are compared for. */
export interface KnownNode {
  readonly localAddresses: readonly string[];
  readonly podCIDRs: readonly string[];
}

/** A plan in each family, the node that it is for, and the objects that are not in it. */
export interface PlannedSides {
  readonly families: FamilySides;
  readonly node: KnownNode;
  readonly problems: readonly string[];
  /** What the comparison of rules does not show, for people. */
  readonly notes: readonly string[];
}

/**
 * Reads the objects once, and compiles them.
 * @param mode undefined: the one that is configured
 * @param isHere the node is this machine, whose kernel it is compared with
 * @throws ComparisonError in mode userspace
 */
export async function plannedSides(
  asked: CommandLine,
  mode: PlannedMode,
  isHere: boolean,
  logger: Logger,
): Promise<PlannedSides> {
  const { commandLine } = await chooseMode(inMode(asked, mode), logger);
  const rules = new ModeRules(commandLine.configuration, logger);
  const options = isHere ? { families: IP_FAMILIES } : otherMachine(logger).options;
  return readObjects(commandLine, options, logger, async ({ state, contexts, problems, container }) => {
    const families: FamilySides = {};
    for (const family of IP_FAMILIES) {
      const tracer = rules.tracer(family);
      if (!tracer.planned) throw ComparisonError.userspace(`the plan of mode ${rules.mode}`);
      const { forwarding, network } = contexts.of(family, true);
      const table = ForwardingTable.of(state, forwarding);
      families[family] = await tracer.planned(table.entries(), network);
    }
    const localAddresses = container.parts.localAddresses.list();
    return {
      families,
      node: { localAddresses, podCIDRs: state.node?.podCIDRs ?? [] },
      problems,
      notes: schedulerNotes(state, rules.mode),
    };
  });
}

/** The command line with this mode; undefined: the configured one. */
export function inMode(asked: CommandLine, mode: PlannedMode): CommandLine {
  return mode === undefined ? asked : { ...asked, configuration: withMode(asked.configuration, mode) };
}

/** Schedulers that Services request, and that the mode does not have. */
function schedulerNotes(state: ClusterState, mode: string): readonly string[] {
  if (mode === 'ipvs') return [];
  const requested = new Set([...state.serviceKeys()].flatMap((key) => state.service(key)?.scheduler ?? []));
  return [...requested]
    .filter((name) => mode !== 'nftables' || methodOfScheduler(name) === undefined)
    .sort()
    .map((name) => `Services request the scheduler ${name}: mode ${mode} chooses at random`);
}
