import { SystemClock } from '../../adapters/process/system-clock.js';
import type { PlannedMode } from '../../adapters/cli/arguments/compare.js';
import type { FamilySides } from '../../application/compare/family-sides.js';
import type { Logger } from '../../application/ports/logger.js';
import { TracedAddresses } from '../../application/trace/traced-node.js';
import { ForwardingTable } from '../../domain/forwarding/forwarding-table.js';
import { IP_FAMILIES } from '../../domain/net/ip-family.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { CommandLine } from '../configuration/command-line.js';
import { withMode } from '../configuration/proxy-configuration.js';
import { chooseMode } from '../modes/choose-mode.js';
import { NodeAddresses } from '../node/local-addresses.js';
import type { ReadingModule } from '../parts/reading-parts.js';
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
  /** The IPVS schedulers that Services ask for, sorted. */
  readonly schedulers: readonly string[];
}

/**
 * Reads the objects once, and compiles them.
 * @param mode undefined: the one that is configured
 * @param isHere the node is this machine, whose kernel it is compared with
 */
export async function plannedSides(
  asked: CommandLine,
  mode: PlannedMode,
  isHere: boolean,
  logger: Logger,
): Promise<PlannedSides> {
  const { commandLine, mode: chosen } = await chooseMode(inMode(asked, mode), logger);
  const machine = new NodeAddresses(new SystemClock(), logger);
  const replacements: ReadingModule = {
    localAddresses: ({ state }) => (isHere ? machine : new TracedAddresses(machine, () => state.node)),
  };
  const options = { families: IP_FAMILIES, replacements };
  return readObjects(commandLine, options, logger, async ({ state, contexts, problems, container }) => {
    const families: FamilySides = {};
    for (const family of IP_FAMILIES) {
      const tracer = await chosen.tracer(family);
      if (!tracer.planned) throw new Error(`mode ${chosen.name} cannot be compared: a process decides in it`);
      const { forwarding, network } = contexts.of(family, true);
      const table = ForwardingTable.of(state, forwarding);
      families[family] = await tracer.planned(table.entries(), network);
    }
    const localAddresses = container.parts.localAddresses.list();
    return {
      families,
      node: { localAddresses, podCIDRs: state.node?.podCIDRs ?? [] },
      problems,
      schedulers: schedulersOf(state),
    };
  });
}

function inMode(asked: CommandLine, mode: PlannedMode): CommandLine {
  return mode === undefined ? asked : { ...asked, configuration: withMode(asked.configuration, mode) };
}

function schedulersOf(state: ClusterState): readonly string[] {
  const asked = [...state.serviceKeys()].flatMap((key) => state.service(key)?.scheduler ?? []);
  return [...new Set(asked)].sort();
}
