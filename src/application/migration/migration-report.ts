import type { NodeFacts } from '../../domain/migration/node-facts.js';
import type { Destination } from '../../domain/migration/proxy-daemon-set.js';
import type { Verdict } from '../../domain/migration/verdict.js';

/** What a migration made of a node. */
export type NodeEnd =
  /** Only looked at. */
  | 'checked'
  /** It runs there already. */
  | 'there'
  | 'moved'
  /** The migration stopped before it. */
  | 'untouched'
  | 'went back'
  /** It could not go back; its rules serve. */
  | 'stuck';

/** What is known of one node. */
export interface NodeReport {
  readonly node: string;
  /** What runs there, by its DaemonSet; `-` where nothing does. */
  readonly program: string;
  readonly version: string;
  /** As configured, else as the kernel's rules are. */
  readonly mode: string;
  readonly facts?: NodeFacts;
  /** Rules that are not of that mode. */
  readonly leftovers: readonly string[];
  /** What of mode ipvs it makes use of. */
  readonly ipvs: readonly string[];
  /** What it has that the target does not do. */
  readonly lost: readonly string[];
  /** Objects that are in no plan, and assumptions. */
  readonly notes: readonly string[];
  /** What the target would change; missing: the node could not be looked at. */
  readonly verdict?: Verdict;
  readonly end: NodeEnd;
  /** Why it could not be looked at, or not be moved. */
  readonly reason?: string;
}

export interface MigrationReport {
  readonly to: Destination;
  /** The mode that nodes are compared with. */
  readonly mode: string;
  /** The DaemonSet that runs it; missing: there is none yet. */
  readonly daemonSet?: string;
  readonly nodes: readonly NodeReport[];
  /** What stands in the way of the moves, and the commands that help. */
  readonly obstacles: readonly { readonly problem: string; readonly commands: readonly string[] }[];
}

/** 0: nothing stands against it. 1: something differs, or went wrong. 2: nothing does, but something is not understood. */
export function migrationExit({ nodes }: MigrationReport): 0 | 1 | 2 {
  const isBad = ({ verdict, reason }: NodeReport) =>
    reason !== undefined || verdict === undefined || verdict.result === 'different';
  if (nodes.some(isBad)) return 1;
  return nodes.some(({ verdict }) => verdict?.result === 'unknown') ? 2 : 0;
}
