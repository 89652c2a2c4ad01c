import type { MigratedCluster } from '../ports/migration/migrated-cluster.js';
import type { SideMode } from '../../domain/compare/side.js';
import { MigrationError } from '../../domain/migration/migration-error.js';
import {
  plannedMove,
  situations,
  type NodeSituation,
  type PlannedMove,
} from '../../domain/migration/planned-move.js';
import type { Destination, ProxyDaemonSet } from '../../domain/migration/proxy-daemon-set.js';
import { targetOf, withoutTarget } from '../../domain/migration/target.js';
import { chosenNodes, type NodeChoice } from './chosen-nodes.js';

/** What is known before any node is looked at. */
export interface Prepared {
  /** What nodes are to be moved to; undefined: nothing runs that yet. */
  readonly target: ProxyDaemonSet | undefined;
  /** How it would be brought. */
  readonly missing: MigrationError | undefined;
  /** That nodes are compared with. */
  readonly mode: SideMode;
  readonly daemonSets: readonly ProxyDaemonSet[];
  readonly situations: readonly NodeSituation[];
}

/** What is asked of a cluster. */
export interface Preparation {
  readonly to: Destination;
  readonly label: string;
  readonly namespace: string;
  readonly nodes: NodeChoice;
}

/** @throws MigrationError, and what the API server refuses */
export async function prepare(
  { to, label, namespace, nodes: choice }: Preparation,
  cluster: MigratedCluster,
  signal: AbortSignal,
): Promise<Prepared> {
  const [daemonSets, nodes, pods] = await Promise.all([
    cluster.daemonSets(signal),
    cluster.nodes(signal),
    cluster.pods(signal),
  ]);
  if (daemonSets.length === 0)
    throw new MigrationError(
      `no DaemonSet in the namespace ${namespace} runs a service proxy; choose others with --proxy-namespace and -l`,
    );
  const target = targetOf(daemonSets, to, label);
  const missing = target ? undefined : withoutTarget(to, namespace, label);
  return {
    target,
    missing,
    mode: comparedMode(to, target, missing),
    daemonSets,
    situations: situations(chosenNodes(nodes, choice), pods, daemonSets),
  };
}

/** How each node gets to the target, and why some cannot: each reason once. */
export function movesOf(
  { situations: all }: Prepared,
  target: ProxyDaemonSet,
  label: string,
): { readonly moves: readonly PlannedMove[]; readonly obstacles: readonly MigrationError[] } {
  const moves: PlannedMove[] = [];
  const obstacles = new Map<string, MigrationError>();
  for (const situation of all) {
    try {
      moves.push(plannedMove(situation, target, label));
    } catch (error) {
      if (!(error instanceof MigrationError)) throw error;
      obstacles.set(error.message, error);
    }
  }
  return { moves, obstacles: [...obstacles.values()] };
}

function comparedMode(
  to: Destination,
  target: ProxyDaemonSet | undefined,
  missing: MigrationError | undefined,
): SideMode {
  if (to !== 'kube-proxy') return to;
  if (!target) throw missing!;
  const { mode } = target;
  if (mode === 'iptables' || mode === 'ipvs' || mode === 'nftables') return mode;
  throw new MigrationError(`the DaemonSet ${target.name} has the mode ${mode}, which cannot be compared`);
}
