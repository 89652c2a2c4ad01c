import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { serviceOf, servicePortName, type ServicePortKey } from '../../domain/model/service-port-name.js';
import type { AdoptedRules } from '../../domain/reconcile/desired-state.js';
import { isUnexplained, labelOf } from '../../domain/reconcile/claims.js';
import type { ServiceFailure } from '../ports/backend.js';
import { RefusedError, type Driver, type WriteResult } from '../ports/driver/driver.js';
import type { Logger } from '../ports/logger.js';
import type { Candidates } from './compile-all.js';
import { readKernel, type Reading } from './reading.js';
import { USUAL_LIMITS, type RoundBounds, type RoundLimits } from './round-limits.js';

/** What a round did. */
export interface RoundOutcome extends Required<WriteResult> {
  /** The epoch in which the kernel was found or made equal to the desired state; undefined if unknown. */
  readonly soundEpoch: number | undefined;
}

export interface RoundOptions<Rules> extends RoundBounds {
  /** Service ports that are being changed. Their first step back is to their last good rules. */
  readonly candidates?: Candidates<Rules>;
  /** What was refused of their change, which else was written. */
  readonly refused?: readonly ServiceFailure[];
  /** While nothing was set aside, the round rejects with its reason; later it ends early. */
  readonly signal?: AbortSignal | undefined;
}

type Group = readonly ServicePortKey[];

/**
 * One round of recovery: makes the kernel equal to the desired state although it may refuse rules of some service
 * ports (docs/recovery.md). It takes nothing from the kernel that serves.
 *
 * It reads the kernel and writes the differences. If the kernel takes them, the round is over. If it refuses and names
 * service ports, each of these takes a step back: from what is wanted to its last good rules, from there to what the
 * kernel holds of it, in which nothing is left to write. They are reported, and the differences are read and written
 * again. If it names nobody, or others again and again, all suspects take the step, the rest is written, and then the suspects are tried in groups:
 * a group that is refused is split, until those to blame are alone. So one cause among n service ports takes some 2 log n
 * writes.
 *
 * A round has limits. What it could not try stays as it is in the kernel and is reported as waiting, for the caller's
 * next round. If nobody is left who could step back, the refusal is about the node's own rules: the round rejects with
 * it. Every error that is no refusal ends the round at once.
 */
export class RecoveryRound<Rules, Change, Actual> {
  private readonly failed = new Map<ServicePortKey, ServiceFailure>();
  private readonly stepsBack = new Map<ServicePortKey, 'to last good rules' | 'to what the kernel holds'>();
  /** What is wanted of those that took a step back. */
  private readonly wanted = new Map<ServicePortKey, Rules | undefined>();
  /** Those that have not been tried since. */
  private readonly untried = new Set<ServicePortKey>();
  private readonly limits: RoundLimits;
  private readonly now: () => number;
  /** Set by the first refusal. */
  private deadline = Infinity;
  private mostCommits = Infinity;
  private commits = 0;
  private written = 0;
  private soundEpoch: number | undefined;
  /** Why the kernel refused last. */
  private refusal = '';

  constructor(
    private readonly driver: Driver<Rules, Change, Actual>,
    private readonly node: NodeNetwork,
    private readonly logger: Logger,
    private readonly options: RoundOptions<Rules> = {},
  ) {
    this.limits = options.limits ?? USUAL_LIMITS;
    this.now = options.now ?? (() => performance.now());
  }

  /** @param reading used instead of reading the kernel first */
  async run(reading?: Reading<Actual>): Promise<RoundOutcome> {
    await this.driver.removeUnused?.();
    this.takeBackRemovals(this.options.refused ?? []);
    await this.repair(reading);
    await this.search();
    return { written: this.written, failed: [...this.failed.values()], soundEpoch: this.soundEpoch };
  }

  /** Writes the differences, and sets aside what the kernel refuses, until it takes the rest. */
  private async repair(first?: Reading<Actual>): Promise<void> {
    let reading = first ?? (await this.read());
    for (;;) {
      const { actual, epoch } = reading;
      try {
        const { written, failed = [] } = await this.driver.repair(actual);
        this.written += written;
        for (const failure of failed) this.report(failure);
        const isWhole = !this.driver.isPartial?.(actual) && (this.driver.unremoved ?? []).length === 0;
        this.soundEpoch = isWhole ? epoch : undefined;
        return;
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error;
        this.noteRefusal(error);
        // A part of it may be written.
        reading = await this.read();
        if (!this.setSomeAside(error, reading.actual)) throw error;
      }
    }
  }

  private async read(): Promise<Reading<Actual>> {
    // What was set aside must be reported, so from then on a signal ends the round in another way.
    const signal = this.stepsBack.size === 0 ? this.options.signal : undefined;
    const reading = await readKernel(this.driver, { signal });
    signal?.throwIfAborted();
    return reading;
  }

  private noteRefusal({ message, suspects }: RefusedError): void {
    const { candidates } = this.options;
    this.refusal = message;
    this.commits++;
    if (this.deadline === Infinity) {
      this.deadline = this.now() + this.limits.milliseconds;
      this.mostCommits = this.limits.commits(new Set([...(candidates?.keys() ?? []), ...suspects]).size);
    }
    this.logger.warn(
      { family: this.driver.family, reason: message },
      'the kernel refused rules; looking for the service port to blame',
    );
  }

  /** Those to blame take a step back, or all suspects if nobody is known. False if nobody can. */
  private setSomeAside({ culprits, suspects }: RefusedError, actual: Actual): boolean {
    const held = this.driver.adopted?.(actual);
    if (this.commits <= this.limits.named && this.mayGoOn()) {
      const named = [...culprits].filter(([key]) => this.stepBack(key, held));
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
      this.report({ key, reason: `stays while new ports of its Service are refused: ${this.refusal}` });
    }
  }

  private wantedOf(key: ServicePortKey): Rules | undefined {
    return this.wanted.has(key) ? this.wanted.get(key) : this.driver.desired.rules(key);
  }

  /** A service port that cannot be removed in all its parts stays whole. True if there is such. */
  private takeBackRemovals(refused: readonly ServiceFailure[]): boolean {
    const removals = refused.filter(({ key }) => this.driver.desired.rules(key) === undefined);
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
    if (!toLastGood && (!held || last === 'to what the kernel holds')) return false;
    if (!this.wanted.has(key)) this.wanted.set(key, desired.rules(key));
    this.stepsBack.set(key, toLastGood ? 'to last good rules' : 'to what the kernel holds');
    desired.replace(key, toLastGood ? candidates.get(key) : heldRules(held!, key, desired.rules(key)));
    return true;
  }

  /**
   * Tries what was set aside in ever smaller groups. Of the groups that are refused the last is split first: so some of
   * those to blame are found within the limits, however many there are.
   */
  private async search(): Promise<void> {
    const refused: Group[] = [];
    for (;;) {
      if (this.untried.size > 0) refused.push([...this.untried]);
      this.untried.clear();
      const group = refused.pop();
      if (!group) return;
      const middle = (group.length + 1) >> 1;
      for (const half of [group.slice(0, middle), group.slice(middle)])
        if (this.mayGoOn()) refused.push(...(await this.tryGroup(half)));
        else for (const key of half) this.wait(key);
    }
  }

  /** Returns what must be split, if the kernel refuses it. */
  private async tryGroup(group: Group): Promise<readonly Group[]> {
    if (group.length === 0) return [];
    const { desired } = this.driver;
    const fallbacks = group.map((key) => desired.rules(key));
    const change = this.driver.newChange();
    for (const key of group) desired.replace(key, this.wanted.get(key), change);
    this.commits++;
    try {
      const { written, failed = [] } = await this.driver.commit(change, this.node);
      this.written += written;
      if (this.takeBackRemovals(failed)) await this.repair();
      for (const failure of failed) this.report(failure);
      return [];
    } catch (error) {
      this.soundEpoch = undefined;
      if (!(error instanceof RefusedError)) throw error;
      this.refusal = error.message;
      group.forEach((key, index) => desired.replace(key, fallbacks[index]));
      // What was written of it is surplus now.
      if (error.isPartial) await this.repair();
      const blamed = new Map(group.length === 1 ? [[group[0]!, error.message]] : []);
      for (const key of group) if (error.culprits.has(key)) blamed.set(key, error.culprits.get(key)!);
      for (const [key, reason] of blamed) this.report({ key, reason });
      const others = group.filter((key) => !blamed.has(key));
      return others.length > 0 ? [others] : [];
    }
  }

  private mayGoOn(): boolean {
    if (this.options.signal?.aborted || this.commits >= this.mostCommits) return false;
    return this.commits < this.limits.leastCommits || this.now() < this.deadline;
  }

  private wait(key: ServicePortKey): void {
    this.report({ key, reason: `waits for its turn after a refusal: ${this.refusal}`, waits: true });
  }

  /** Unexplained rules have no service port to report. */
  private report(failure: ServiceFailure): void {
    const { key, reason } = failure;
    if (!isUnexplained(key)) this.failed.set(key, failure);
    else
      this.logger.warn(
        { family: this.driver.family, reason },
        'the kernel refused rules of an unknown service port; they stay as they are',
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
