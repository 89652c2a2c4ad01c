import { errorMessage } from '../error-message.js';
import type { HealthCheck } from '../ports/migration/health-check.js';
import type { MigratedCluster } from '../ports/migration/migrated-cluster.js';
import type { PlannedMove } from '../../domain/migration/planned-move.js';
import type { ProxyDaemonSet } from '../../domain/migration/proxy-daemon-set.js';
import { verdictWords, type Verdict } from '../../domain/migration/verdict.js';
import type { Patience } from './patience.js';

/** The label's value under which no service proxy runs on a node. */
const NO_PROXY = 'none';

/** What a move needs of the outside. */
export interface MoveParts {
  readonly cluster: MigratedCluster;
  readonly patience: Patience;
  readonly healthChecks: readonly HealthCheck[];
  /** The key of the label. */
  readonly label: string;
  /** Compares the kernel with the plan of what runs on the node now. */
  compare(move: PlannedMove, signal: AbortSignal): Promise<Verdict>;
  /** Told of each step, for people. */
  told(node: string, step: string): void;
}

/** How a move ended. */
export interface MoveEnd {
  /** `untouched`: nothing was changed. `stuck`: it is neither here nor there; the reason says why. */
  readonly end: 'moved' | 'untouched' | 'went back' | 'stuck';
  readonly reason?: string;
}

/**
 * One node's move from one DaemonSet to another. At each moment the rules of one of them serve, as nobody removes any before the
 * next ones stand.
 *
 * - **checked**: nothing is changed yet.
 * - **released**: the label is `none`, and the pod of before is gone. Its rules stay and serve, and get older.
 * - **taken**: the label is the target's, and its pod is ready: the target's rules stand.
 * - **compared**: the kernel does what the target is to do there, but for accepted differences.
 * - **healthy**: every health check succeeded. The node is moved.
 *
 * Whatever fails after `checked`, or an abort, leads back the same way: the label `none`, the target's pod gone, the label of before,
 * its pod ready. This is not aborted. If it fails, too, the node is stuck, and its rules serve.
 */
export class NodeMove {
  constructor(
    private readonly move: PlannedMove,
    private readonly parts: MoveParts,
  ) {}

  /** Never throws: the reason says what happened, an abort too. */
  async run(signal: AbortSignal): Promise<MoveEnd> {
    try {
      await this.tryToLabel(signal);
    } catch (error) {
      return { end: 'untouched', reason: reasonOf(error, signal) };
    }
    try {
      await this.forward(signal);
      return { end: 'moved' };
    } catch (error) {
      const reason = reasonOf(error, signal);
      this.tell(`${reason}; going back`);
      return this.back(reason);
    }
  }

  /** With the value that it has: what is not permitted is found out before anything changes. */
  private tryToLabel(signal: AbortSignal): Promise<void> {
    const { node, labelBefore } = this.move;
    signal.throwIfAborted();
    return this.parts.cluster.label(node, this.parts.label, labelBefore, signal);
  }

  private async forward(signal: AbortSignal): Promise<void> {
    const { from, to, labelAfter } = this.move;
    const { patience, healthChecks } = this.parts;
    await this.release(from, signal);
    await this.take(to, labelAfter, signal);
    await patience.until(
      `${to.name} did not come to do what it is to do`,
      async () => {
        const verdict = await this.parts.compare(this.move, signal);
        return verdict.result === 'equal' ? undefined : verdictWords(verdict);
      },
      signal,
    );
    this.tell('the rules do what they are to do');
    for (const each of healthChecks) {
      await patience.until(
        `the health check ${JSON.stringify(each.name)} did not succeed`,
        () => each.check(this.move.node, signal),
        signal,
      );
      this.tell(`healthy: ${each.name}`);
    }
  }

  private async back(reason: string): Promise<MoveEnd> {
    const { from, to, labelBefore } = this.move;
    const { signal } = new AbortController();
    try {
      await this.release(to, signal);
      if (from) await this.take(from, labelBefore, signal);
      else await this.setLabel(labelBefore, signal);
      return { end: 'went back', reason };
    } catch (error) {
      return { end: 'stuck', reason: `${reason}; and it cannot go back: ${errorMessage(error)}` };
    }
  }

  private async release(daemonSet: ProxyDaemonSet | undefined, signal: AbortSignal): Promise<void> {
    await this.setLabel(NO_PROXY, signal);
    if (!daemonSet) return;
    await this.parts.patience.until(
      `the pod of ${daemonSet.name} did not end`,
      async () => ((await this.podsOf(daemonSet, signal)).length > 0 ? 'it is still there' : undefined),
      signal,
    );
    this.tell(`${daemonSet.name} has ended; its rules stay`);
  }

  private async take(
    daemonSet: ProxyDaemonSet,
    value: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    await this.setLabel(value, signal);
    await this.parts.patience.until(
      `the pod of ${daemonSet.name} did not get ready`,
      async () => {
        const pods = await this.podsOf(daemonSet, signal);
        if (pods.some(({ isReady }) => isReady)) return undefined;
        return pods.at(-1)?.state ?? 'there is none';
      },
      signal,
    );
    this.tell(`${daemonSet.name} is ready`);
  }

  private async podsOf({ name }: ProxyDaemonSet, signal: AbortSignal) {
    const pods = await this.parts.cluster.pods(signal, this.move.node);
    return pods.filter(({ daemonSet }) => daemonSet === name);
  }

  private setLabel(value: string | undefined, signal: AbortSignal): Promise<void> {
    const { cluster, patience, label } = this.parts;
    return patience.until(
      `the label ${label} could not be set`,
      async () => {
        await cluster.label(this.move.node, label, value, signal);
        return undefined;
      },
      signal,
    );
  }

  private tell(step: string): void {
    this.parts.told(this.move.node, step);
  }
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  return signal.aborted ? 'interrupted' : errorMessage(error);
}
