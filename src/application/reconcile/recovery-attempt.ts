import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { serviceOf, servicePortName, type ServicePortKey } from '../../domain/model/service-port-name.js';
import type { AdoptedRules } from '../../domain/reconcile/desired-state.js';
import { isUnexplained, labelOf } from '../../domain/reconcile/claims.js';
import type { ApplyResult, ServiceFailure } from '../ports/backend.js';
import { RejectedError, type Driver, type KernelSnapshot, type ReadOptions } from '../ports/driver.js';
import type { Logger } from '../ports/logger.js';
import type { Candidates } from './compile-changes.js';

export interface RecoveryOptions<Rules> extends RecoveryBounds {
  /** Service ports that are being changed. Their first step back is to their last good rules. */
  readonly candidates?: Candidates<Rules>;
  /** Service ports of the change that the kernel rejected; the rest is written. */
  readonly rejected?: readonly ServiceFailure[];
  /** Before any service port steps back, the attempt rejects with its reason; later it ends early. */
  readonly signal?: AbortSignal | undefined;
}

type Group = readonly ServicePortKey[];

/**
 * One recovery attempt: makes the kernel equal to the desired state although it may reject rules of some service
 * ports (docs/behavior/recovery.md). It removes no working rules from the kernel.
 *
 * It reads the kernel and writes the differences. If the kernel accepts them, the attempt is done. If it rejects them and
 * names service ports, each of these takes a step back: from the wanted rules to its last good rules, from there to what
 * the kernel holds of it, which needs no write. They are reported, and the differences are read and written again. If it
 * names none, or too many one after another, all suspects take the step, the rest is written, and then the suspects are
 * tried in groups: a rejected group is split until the rejected ports are alone. So one cause among n service ports takes
 * about 2 log n writes.
 *
 * An attempt has limits. Service ports that it could not try keep what the kernel has, and are reported as waiting, for the
 * caller's next attempt. If no service port can step back, the rejection is about the node's own rules: the attempt
 * rejects with it. Every other error ends the attempt immediately.
 */
export class RecoveryAttempt<Rules, Change> {
  private readonly failed = new Map<ServicePortKey, ServiceFailure>();
  private readonly stepsBack = new Map<ServicePortKey, 'to last good rules' | 'to the rules in the kernel'>();
  /** The desired rules of service ports that took a step back. */
  private readonly wanted = new Map<ServicePortKey, Rules | undefined>();
  /** Those that have not been tried since. */
  private readonly untried = new Set<ServicePortKey>();
  private readonly limits: RecoveryLimits;
  private readonly now: () => number;
  /** Set by the first rejection. */
  private deadline = Infinity;
  private mostCommits = Infinity;
  private commits = 0;
  private written = 0;
  /** The epoch in which the kernel was found or made equal to the desired state; undefined if unknown. */
  lastCleanEpoch: number | undefined;
  /** The reason of the last rejection. */
  private rejection = '';

  constructor(
    private readonly driver: Driver<Rules, Change>,
    private readonly node: NodeNetwork,
    private readonly logger: Logger,
    private readonly options: RecoveryOptions<Rules> = {},
  ) {
    this.limits = options.limits ?? USUAL_LIMITS;
    this.now = options.now ?? (() => performance.now());
  }

  /** @param reading used instead of reading the kernel first */
  async run(reading?: Reading<Rules>): Promise<ApplyResult> {
    await this.driver.removeUnused?.();
    this.takeBackRemovals(this.options.rejected ?? []);
    await this.repair(reading);
    await this.search();
    return { written: this.written, failed: [...this.failed.values()] };
  }

  /** Writes the differences. What the kernel rejects steps back, until the kernel accepts the rest. */
  private async repair(first?: Reading<Rules>): Promise<void> {
    let reading = first ?? (await this.read());
    for (;;) {
      const { snapshot, epoch } = reading;
      try {
        const { written, failed = [] } = await snapshot.repair();
        this.written += written;
        for (const failure of failed) this.report(failure);
        const isWhole = !snapshot.isPartial && (this.driver.pendingDeletes ?? []).length === 0;
        this.lastCleanEpoch = isWhole ? epoch : undefined;
        return;
      } catch (error) {
        if (!(error instanceof RejectedError)) throw error;
        this.recordRejection(error);
        // A part of it may be written.
        reading = await this.read();
        if (!this.fallBack(error, reading.snapshot)) throw error;
      }
    }
  }

  private async read(): Promise<Reading<Rules>> {
    // Service ports that stepped back must be reported, so from then on a signal ends the attempt in another way.
    const signal = this.stepsBack.size === 0 ? this.options.signal : undefined;
    const reading = await readKernel(this.driver, { signal });
    signal?.throwIfAborted();
    return reading;
  }

  private recordRejection({ message, suspects }: RejectedError): void {
    const { candidates } = this.options;
    this.rejection = message;
    this.commits++;
    if (this.deadline === Infinity) {
      this.deadline = this.now() + this.limits.milliseconds;
      this.mostCommits = this.limits.commits(new Set([...(candidates?.keys() ?? []), ...suspects]).size);
    }
    this.logger.debug(
      { reason: message },
      'the kernel rejected rules; looking for the service port that causes it',
    );
  }

  /** Rejected ports take a step back, or all suspects if none is known. False if none can. */
  private fallBack({ rejectedPorts, suspects }: RejectedError, snapshot: KernelSnapshot<Rules>): boolean {
    const held = snapshot.adopted?.();
    if (this.commits <= this.limits.named && this.mayCommit()) {
      const named = [...rejectedPorts].filter(([key]) => this.stepBack(key, held));
      for (const [key, reason] of named) this.report({ key, reason });
      this.keepReplaced(named.map(([key]) => key));
      if (named.length > 0) return true;
    }
    const all = new Set([...(this.options.candidates?.keys() ?? []), ...suspects]);
    const back = [...all].filter((key) => this.stepBack(key, held));
    this.keepReplaced(back);
    for (const key of back) if (!this.failed.has(key)) this.untried.add(key);
    return back.length > 0;
  }

  /** A new port of a Service may have the frontends of one that goes, as when it is renamed: that one stays until the new one is there. */
  private keepReplaced(back: readonly ServicePortKey[]): void {
    const { candidates } = this.options;
    if (!candidates) return;
    const isNew = (key: ServicePortKey) => candidates.has(key) && !candidates.get(key);
    const services = new Set(back.filter(isNew).map(serviceOf));
    if (services.size === 0) return;
    for (const [key, lastGood] of candidates) {
      if (!lastGood || !services.has(serviceOf(key)) || this.wantedOf(key)) continue;
      this.stepBack(key, undefined);
      this.report({ key, reason: `stays while new ports of its Service are rejected: ${this.rejection}` });
    }
  }

  private wantedOf(key: ServicePortKey): Rules | undefined {
    return this.wanted.has(key) ? this.wanted.get(key) : this.driver.desired.rules(key);
  }

  /** A service port that cannot be removed in all its parts stays whole. True if there is such. */
  private takeBackRemovals(rejected: readonly ServiceFailure[]): boolean {
    const removals = rejected.filter(({ key }) => this.driver.desired.rules(key) === undefined);
    const back = removals.filter(({ key }) => this.stepBack(key, undefined));
    for (const failure of back) this.report(failure);
    return back.length > 0;
  }

  /** To its last good rules, then to what the kernel holds of it. False if it has taken both steps. */
  private stepBack(key: ServicePortKey, held: AdoptedRules<Rules> | undefined): boolean {
    const { desired } = this.driver;
    const { candidates } = this.options;
    const last = this.stepsBack.get(key);
    const toLastGood = candidates?.has(key) === true && last === undefined;
    if (!toLastGood && (!held || last === 'to the rules in the kernel')) return false;
    if (!this.wanted.has(key)) this.wanted.set(key, desired.rules(key));
    this.stepsBack.set(key, toLastGood ? 'to last good rules' : 'to the rules in the kernel');
    desired.replace(key, toLastGood ? candidates.get(key) : heldRules(held!, key, desired.rules(key)));
    return true;
  }

  /**
   * Tries the suspects in ever smaller groups. Of the rejected groups the last is split first: so some of the rejected
   * ports are found within the limits, however many there are.
   */
  private async search(): Promise<void> {
    const rejected: Group[] = [];
    for (;;) {
      if (this.untried.size > 0) rejected.push([...this.untried]);
      this.untried.clear();
      const group = rejected.pop();
      if (!group) return;
      const middle = (group.length + 1) >> 1;
      for (const half of [group.slice(0, middle), group.slice(middle)])
        if (this.mayCommit()) rejected.push(...(await this.tryGroup(half)));
        else for (const key of half) this.defer(key);
    }
  }

  /** Returns what must be split, if the kernel rejects it. */
  private async tryGroup(group: Group): Promise<readonly Group[]> {
    if (group.length === 0) return [];
    const { desired } = this.driver;
    const fallbacks = group.map((key) => desired.rules(key));
    const change = desired.newChange();
    for (const key of group) desired.replace(key, this.wanted.get(key), change);
    this.commits++;
    try {
      const { written, failed = [] } = await this.driver.commit(change, this.node);
      this.written += written;
      if (this.takeBackRemovals(failed)) await this.repair();
      for (const failure of failed) this.report(failure);
      return [];
    } catch (error) {
      this.lastCleanEpoch = undefined;
      if (!(error instanceof RejectedError)) throw error;
      this.rejection = error.message;
      group.forEach((key, index) => desired.replace(key, fallbacks[index]));
      // Its written parts are unexpected now.
      if (error.isPartial) await this.repair();
      const blamed = new Map(group.length === 1 ? [[group[0]!, error.message]] : []);
      for (const key of group)
        if (error.rejectedPorts.has(key)) blamed.set(key, error.rejectedPorts.get(key)!);
      for (const [key, reason] of blamed) this.report({ key, reason });
      const others = group.filter((key) => !blamed.has(key));
      return others.length > 0 ? [others] : [];
    }
  }

  private mayCommit(): boolean {
    if (this.options.signal?.aborted || this.commits >= this.mostCommits) return false;
    return this.commits < this.limits.leastCommits || this.now() < this.deadline;
  }

  private defer(key: ServicePortKey): void {
    this.report({ key, reason: `waits for its turn after a rejection: ${this.rejection}`, waits: true });
  }

  /** Unexplained rules have no service port to report. */
  private report(failure: ServiceFailure): void {
    const { key, reason } = failure;
    if (!isUnexplained(key)) this.failed.set(key, failure);
    else
      this.logger.warn(
        { reason },
        'the kernel rejected rules of an unknown service port; they stay unchanged',
      );
  }
}

function heldRules<Rules>(
  held: AdoptedRules<Rules>,
  key: ServicePortKey,
  wanted: Rules | undefined,
): Rules | undefined {
  const labels = isUnexplained(key) ? [labelOf(key)] : held.labelsOf(servicePortName(key), wanted);
  return held.rules(labels ?? [], key);
}

/** The limits of one recovery attempt. */
export interface RecoveryLimits {
  /** Writes that may be rejected or tried. One cause among `count` service ports is found within two for each halving. */
  commits(count: number): number;
  /** So long after the first rejection no further write is tried, */
  readonly milliseconds: number;
  /** unless there were only so many: a tool may need seconds for each, and every attempt must make progress. */
  readonly leastCommits: number;
  /** So many rejections may name service ports before all suspects are tried in groups. */
  readonly named: number;
}

/** One attempt finds two causes, or one after a few that the kernel names. */
export const USUAL_LIMITS: RecoveryLimits = {
  commits: (count) => 8 + 4 * Math.ceil(Math.log2(count + 1)),
  milliseconds: 5_000,
  leastCommits: 8,
  named: 4,
};

/** The limits and the clock of recovery attempts. Missing: the usual limits, and the clock of the machine. */
export interface RecoveryBounds {
  readonly limits?: RecoveryLimits;
  /** Milliseconds, from any point in time. */
  readonly now?: () => number;
}

/** A snapshot of the kernel, and its epoch. */
export interface Reading<Rules> {
  readonly snapshot: KernelSnapshot<Rules>;
  readonly epoch: number | undefined;
}

/** The epoch comes first: a write of another program while it is read begins another one. */
export async function readKernel<Rules>(
  driver: Pick<Driver<Rules, never>, 'watch' | 'read'>,
  options: ReadOptions,
): Promise<Reading<Rules>> {
  const epoch = await driver.watch.epoch();
  return { epoch, snapshot: await driver.read(options) };
}
