import type {
  ApplyResult,
  Backend,
  StartOptions,
  VerificationKind,
  VerifyResult,
} from '../../application/ports/backend.js';
import type { Clock, Timer } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';
import { Reconciler } from '../../application/reconcile/reconciler.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { RuleDifference } from '../../domain/reconcile/rule-difference.js';
import { IpvsDriver, type IpvsBackendOptions, type IpvsKernel } from './ipvs-driver.js';
import { SWEEP_PERIOD } from './tables/server-table.js';

/** Mode ipvs for one family. */
export function ipvsBackend(
  family: IpFamily,
  kernel: IpvsKernel,
  clock: Clock,
  logger: Logger,
  options: IpvsBackendOptions,
): Backend {
  const driver = new IpvsDriver(family, kernel, clock, logger, options);
  return new IpvsBackend(driver, new Reconciler(driver, logger), clock, logger);
}

/** A reconciler of mode ipvs, and a timer for real servers that drain. Only one of them works at a time. */
class IpvsBackend implements Backend {
  readonly mode = 'ipvs';
  readonly family: IpFamily;
  /** Ends when all work that was asked for so far is done. */
  private pending: Promise<unknown> = Promise.resolve();
  private timer: Timer | undefined;
  private closed = false;

  constructor(
    private readonly driver: IpvsDriver,
    private readonly reconciler: Backend,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.family = driver.family;
  }

  start(entries: Iterable<ForwardingEntry>, node: NodeNetwork, options?: StartOptions): Promise<ApplyResult> {
    return this.runExclusive(() => this.reconciler.start(entries, node, options));
  }

  apply(changes: readonly ForwardingChange[], node: NodeNetwork): Promise<ApplyResult> {
    return this.runExclusive(() => this.reconciler.apply(changes, node));
  }

  /** Only the iptables rules give signs of foreign writes, so a quick verification is about them. */
  verify(how: VerificationKind, signal?: AbortSignal): Promise<VerifyResult> {
    return this.runExclusive(() =>
      how === 'quick' ? this.driver.verifyQuickly(signal) : this.reconciler.verify(how, signal),
    );
  }

  rulesDependOn(before: NodeNetwork, after: NodeNetwork): boolean {
    return this.driver.rulesDependOn(before, after);
  }

  differences(signal?: AbortSignal): Promise<readonly RuleDifference[] | undefined> {
    return this.runExclusive(async () => this.reconciler.differences?.(signal));
  }

  plannedDifferences(
    entries: Iterable<ForwardingEntry>,
    node: NodeNetwork,
    options?: StartOptions,
  ): Promise<readonly RuleDifference[] | undefined> {
    return this.runExclusive(async () => this.reconciler.plannedDifferences?.(entries, node, options));
  }

  cleanup(): Promise<void> {
    return this.runExclusive(() => this.reconciler.cleanup());
  }

  /** Real servers that drain stay: the next process continues. */
  async close(): Promise<void> {
    this.closed = true;
    this.timer?.cancel();
    await this.pending;
    await this.reconciler.close();
  }

  private runExclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = this.pending.then(work).finally(() => this.scheduleSweep());
    this.pending = result.catch(() => undefined);
    return result;
  }

  private scheduleSweep(): void {
    if (this.closed || this.timer || !this.driver.isDraining) return;
    this.timer = this.clock.after(SWEEP_PERIOD, () => {
      this.timer = undefined;
      this.runExclusive(() => this.driver.sweep()).catch((error: unknown) =>
        this.logger.error(
          { family: this.family, error },
          'cannot list the real servers that drain; will retry',
        ),
      );
    });
  }
}
