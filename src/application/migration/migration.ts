import { errorMessage } from '../error-message.js';
import type { Clock } from '../ports/clock.js';
import type { HealthCheck } from '../ports/migration/health-check.js';
import type { MigratedCluster } from '../ports/migration/migrated-cluster.js';
import type { InspectedPlan, NodeInspector } from '../ports/migration/node-inspector.js';
import type { SideMode } from '../../domain/compare/side.js';
import { lostFeatures, unprotected, usedFeatures } from '../../domain/migration/lost-features.js';
import { MigrationError } from '../../domain/migration/migration-error.js';
import { leftovers } from '../../domain/migration/node-facts.js';
import type { NodeSituation, PlannedMove } from '../../domain/migration/planned-move.js';
import type { Inspection } from '../../domain/migration/inspection.js';
import { judge, type Verdict } from '../../domain/migration/verdict.js';
import type { MigrationReport, NodeReport } from './migration-report.js';
import { NodeMove } from './node-move.js';
import { Patience } from './patience.js';
import { movesOf, prepare, type Preparation, type Prepared } from './prepare.js';

/** What is asked for. */
export interface MigrationRequest extends Preparation {
  /** Names of known differences, and `unknown`. */
  readonly expected: readonly string[];
  /** Milliseconds for each thing that is waited for. */
  readonly timeout: number;
  /** How many nodes are looked at at a time. */
  readonly parallel: number;
}

export interface MigrationParts {
  readonly cluster: MigratedCluster;
  readonly inspector: NodeInspector;
  readonly healthChecks: readonly HealthCheck[];
  readonly clock: Clock;
  /** Told of each step, for people. */
  told(node: string, step: string): void;
}

/** Looks that a node gets before a difference counts: a Service may change between the two sides of one. */
const LOOKS = 2;

/**
 * Moves nodes to another service proxy or mode, one at a time. First all are looked at, and nothing is changed if anything stands
 * against any; then each makes its `NodeMove`; the first that does not come through ends it. Nodes that are there already are only
 * looked at, so a migration that was stopped can be begun again.
 */
export class Migration {
  private readonly patience: Patience;
  private readonly expected: ReadonlySet<string>;

  constructor(
    private readonly request: MigrationRequest,
    private readonly parts: MigrationParts,
  ) {
    this.patience = new Patience(parts.clock, request.timeout);
    this.expected = new Set(request.expected);
  }

  /**
   * Looks at the nodes and changes nothing.
   * @throws MigrationError if there is nobody to look with, and what the API server refuses
   */
  async check(signal: AbortSignal): Promise<MigrationReport> {
    const prepared = await prepare(this.request, this.parts.cluster, signal);
    const nodes = await this.look(prepared, signal);
    const { target, missing } = prepared;
    const errors = target ? movesOf(prepared, target, this.request.label).obstacles : [missing!];
    const obstacles = errors.map(({ message: problem, commands }) => ({ problem, commands }));
    return { ...this.head(prepared), nodes, obstacles };
  }

  /**
   * Looks, and moves. An abort lets the node that is being moved go back.
   * @throws MigrationError if something is missing; nothing is changed then
   */
  async run(signal: AbortSignal): Promise<MigrationReport> {
    const prepared = await prepare(this.request, this.parts.cluster, signal);
    const { target, missing } = prepared;
    if (!target) throw missing!;
    const {
      moves,
      obstacles: [obstacle],
    } = movesOf(prepared, target, this.request.label);
    if (obstacle) throw obstacle;
    const looked = await this.look(prepared, signal);
    const nodes: NodeReport[] = [];
    let goesOn = looked.every(({ verdict, reason }) => verdict?.result === 'equal' && !reason);
    for (const [at, report] of looked.entries()) {
      const isToMove = goesOn && report.end !== 'there';
      const ended = isToMove ? await this.move(report, moves[at]!, prepared.mode, signal) : report;
      goesOn &&= ended.reason === undefined;
      nodes.push(ended.end === 'checked' ? { ...ended, end: 'untouched' } : ended);
    }
    return { ...this.head(prepared), nodes, obstacles: [] };
  }

  private async move(
    report: NodeReport,
    move: PlannedMove,
    mode: SideMode,
    signal: AbortSignal,
  ): Promise<NodeReport> {
    const { cluster, healthChecks, told } = this.parts;
    const compare = async (one: PlannedMove, given: AbortSignal): Promise<Verdict> => {
      const plan = { node: one.node, mode, moved: true, as: one.to };
      return judge(await this.parts.inspector.inspect(plan, given), this.expected);
    };
    const { label } = this.request;
    const parts = { cluster, patience: this.patience, healthChecks, label, compare, told };
    return { ...report, ...(await new NodeMove(move, parts).run(signal)) };
  }

  /** In the order of the situations. */
  private async look(prepared: Prepared, signal: AbortSignal): Promise<readonly NodeReport[]> {
    const reports: NodeReport[] = [];
    const waiting = prepared.situations.entries();
    const worker = async (): Promise<void> => {
      for (const [at, situation] of waiting) reports[at] = await this.lookAt(situation, prepared, signal);
    };
    // What an abort ends clears up after itself, and that is waited for.
    const ended = await Promise.allSettled(Array.from({ length: this.request.parallel }, worker));
    for (const each of ended) if (each.status === 'rejected') throw each.reason;
    return reports;
  }

  private async lookAt(
    { node, proxies }: NodeSituation,
    { target, daemonSets, mode }: Prepared,
    signal: AbortSignal,
  ): Promise<NodeReport> {
    const [from] = proxies;
    const isThere = target !== undefined && from?.name === target.name;
    const known = {
      node: node.name,
      program: from?.program ?? '-',
      version: from?.version ?? '-',
      end: isThere ? ('there' as const) : ('checked' as const),
    };
    try {
      const as = target ?? from ?? daemonSets[0]!;
      const inspection = await this.inspect({ node: node.name, mode, moved: isThere, as }, signal);
      const problem = isThere ? undefined : unprotected(from, target);
      const { facts, comparison } = inspection;
      const modeNow = comparison?.families[0]?.mode ?? mode;
      const program = this.request.to === 'kube-proxy' ? this.request.to : 'kube-proxy-ts';
      return {
        ...known,
        mode: from?.mode ?? modeNow,
        facts,
        leftovers: leftovers(facts, modeNow),
        ipvs: usedFeatures(from, facts.schedulers),
        lost: isThere ? [] : lostFeatures(from, { program, mode }, comparison?.schedulers ?? []),
        notes: [...(comparison?.problems ?? []).map((each) => `ignored: ${each}`), ...facts.unseen],
        verdict: judge(inspection, this.expected),
        ...(problem !== undefined && { reason: problem }),
      };
    } catch (error) {
      if (signal.aborted || error instanceof MigrationError) throw error;
      const reason = errorMessage(error);
      return {
        ...known,
        mode: from?.mode ?? '-',
        leftovers: [],
        ipvs: usedFeatures(from, []),
        lost: [],
        notes: [],
        reason,
      };
    }
  }

  /** Again, if something differs. */
  private async inspect(plan: InspectedPlan, signal: AbortSignal): Promise<Inspection> {
    let inspection = await this.parts.inspector.inspect(plan, signal);
    for (let look = 1; look < LOOKS && judge(inspection, this.expected).differences.length > 0; look++)
      inspection = await this.parts.inspector.inspect(plan, signal);
    return inspection;
  }

  private head({ target, mode }: Prepared): Omit<MigrationReport, 'nodes' | 'obstacles'> {
    return { to: this.request.to, mode, ...(target && { daemonSet: target.name }) };
  }
}
