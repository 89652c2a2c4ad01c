import { endpointsNote } from '../../domain/forwarding/endpoint-budget.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { ServicePortName, ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { RuleDifference } from '../../domain/reconcile/rule-difference.js';
import {
  mergeResults,
  NOTHING_APPLIED,
  type ApplyResult,
  type Backend,
  type ServiceFailure,
  type StartOptions,
  type VerificationKind,
  type VerifyResult,
} from '../ports/backend.js';
import {
  RefusedError,
  type Driver,
  type Adoption,
  type PendingDeletes,
  type DifferenceLines,
} from '../ports/driver.js';
import type { Logger } from '../ports/logger.js';
import { compileChanges, type Candidates, type Compiled, UnexplainedRules } from './compile-changes.js';
import {
  readKernel,
  type Reading,
  RecoveryAttempt,
  type RecoveryOptions,
  type RecoveryBounds,
} from './recovery-attempt.js';
import type { FrontendAddress } from '../../domain/conntrack/frontend-map.js';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/**
 * Keeps the kernel equal to the desired state of one family, for any backend: the driver knows how to compile, write,
 * read and compare; the reconciler decides everything else.
 *
 * Memory knows what is committed (the desired state), so a change is the difference of two versions of a service port's
 * rules; nothing is read for it. If the kernel rejects a change, either it is not as remembered or a service port is
 * bad: a recovery attempt reads the kernel, writes the differences, and finds out which (`RecoveryAttempt`). A rejected
 * service port gets back its last good rules or keeps what the kernel has of it, and everything else is applied. The
 * caller tries it again, also if it was to be removed.
 */
export class Reconciler<Rules, Change, Actual> implements Backend {
  readonly mode: string;
  readonly family: IpFamily;
  private node!: NodeNetwork;
  /** The epoch in which the kernel was last found or made equal to the desired state. */
  private lastCleanEpoch: number | undefined;
  private unexplained: UnexplainedRules<Rules, Change>;
  private readonly left: LeftFrontends<Actual>;

  constructor(
    private readonly driver: Driver<Rules, Change, Actual>,
    private readonly logger: Logger,
    private readonly bounds: RecoveryBounds = {},
  ) {
    this.mode = driver.mode;
    this.family = driver.family;
    this.unexplained = UnexplainedRules.none(driver.desired);
    this.left = new LeftFrontends(driver);
    if (driver.rulesDependOn) this.rulesDependOn = (before, after) => driver.rulesDependOn!(before, after);
  }

  readonly rulesDependOn?: NonNullable<Backend['rulesDependOn']>;

  async start(
    entries: Iterable<ForwardingEntry>,
    node: NodeNetwork,
    options: StartOptions = {},
  ): Promise<ApplyResult> {
    const { driver } = this;
    const all = [...entries];
    const { failed, changes } = await this.compileForStart(all, node, options);
    const reading = await readKernel(driver, { mayRecognize: true });
    if (failed.length > 0) this.fallBack(failed, all, reading.actual);
    this.keepUnexplained(options, all, reading.actual);
    // What an earlier process left is all that they can go back to.
    const written = await this.recover({ signal: options.signal }, reading);
    const result = this.result(written, failed, changes);
    return withLost(result, this.left.started(reading.actual, result.failed));
  }

  async apply(
    changes: readonly ForwardingChange[],
    node: NodeNetwork,
    signal?: AbortSignal,
  ): Promise<ApplyResult> {
    if (this.driver.prepare) await this.driver.prepare(changes, node);
    const change = this.driver.newChange();
    const { candidates, failed } = await compileChanges(this.driver, this.unexplained, changes, change);
    this.node = node;
    const result = this.result(await this.commit(candidates, change, signal), failed, changes);
    return withLost(result, this.left.applied(changes, result.failed));
  }

  async verify(how: VerificationKind, signal?: AbortSignal): Promise<VerifyResult> {
    const { watch } = this.driver;
    const epoch = await watch.epoch();
    const watched = epoch !== undefined && watch.seesEveryWrite;
    if (how === 'quick' && (epoch === undefined || epoch === this.lastCleanEpoch)) {
      await this.driver.removeUnused?.();
      return { compared: false, watched, ...NOTHING_APPLIED };
    }
    const retriedDeletes = this.driver.hasPendingDeletes ?? false;
    const repaired = await this.recover({ signal });
    const result = { compared: true, watched, retriedDeletes, ...repaired };
    return withLost(result, this.left.repaired());
  }

  async differences(signal?: AbortSignal): Promise<readonly RuleDifference[] | undefined> {
    const actual = await this.driver.read({ signal });
    const lines = this.driver.differences?.(actual);
    return lines && listDifferences(lines, signal);
  }

  async plannedDifferences(
    entries: Iterable<ForwardingEntry>,
    node: NodeNetwork,
    options: StartOptions = {},
  ): Promise<readonly RuleDifference[] | undefined> {
    const all = [...entries];
    await this.compileForStart(all, node, options);
    const actual = await this.driver.read();
    this.keepUnexplained(options, all, actual);
    const lines = this.driver.differences?.(actual);
    return lines && listDifferences(lines);
  }

  mayKeep(name: ServicePortName): boolean {
    return !this.driver.adopted || this.unexplained.has(name);
  }

  get failedDeletes(): readonly string[] {
    return this.driver.failedDeletes ?? [];
  }

  cleanup(): Promise<void> {
    return this.driver.cleanup();
  }

  close(): Promise<void> {
    return this.driver.close();
  }

  /** Forgets everything, and compiles these entries into the desired state. */
  private async compileForStart(
    entries: readonly ForwardingEntry[],
    node: NodeNetwork,
    options: StartOptions,
  ): Promise<Compiled<Rules> & { readonly changes: readonly ForwardingChange[] }> {
    const { driver } = this;
    this.node = node;
    await driver.begin(node, options);
    this.unexplained = UnexplainedRules.none(driver.desired);
    const changes = entries.map((entry) => ({ key: entry.key, entry }));
    await driver.prepare?.(changes, node);
    return { ...(await compileChanges(driver, this.unexplained, changes)), changes };
  }

  /** Writes the change, which the desired state already contains, and the node. */
  private async commit(
    candidates: Candidates<Rules>,
    change: Change,
    signal: AbortSignal | undefined,
  ): Promise<ApplyResult> {
    try {
      const { written, failed = [] } = await this.driver.commit(change, this.node);
      const result = { written, failed: [], conflicts: [] };
      if (failed.length === 0) return result;
      return mergeResults(result, await this.recover({ candidates, rejected: failed, signal }));
    } catch (error) {
      // What a failed write left behind is unknown until everything has been compared.
      this.lastCleanEpoch = undefined;
      if (!(error instanceof RefusedError)) throw error;
      this.logger.warn(
        { family: this.family, reason: error.message },
        'the kernel rejected a change; reading its rules back',
      );
      return this.recover({ candidates, signal });
    }
  }

  /** Makes the kernel equal to the desired state, except for what it rejects. */
  private async recover(options: RecoveryOptions<Rules>, reading?: Reading<Actual>): Promise<ApplyResult> {
    const { driver, node, logger, bounds } = this;
    const attempt = new RecoveryAttempt(driver, node, logger, { ...bounds, ...options });
    try {
      const result = await attempt.run(reading);
      this.lastCleanEpoch = attempt.lastCleanEpoch;
      return result;
    } catch (error) {
      // An aborted attempt has only read.
      if (!options.signal?.aborted) this.lastCleanEpoch = undefined;
      throw error;
    }
  }

  /** Service ports that cannot be compiled keep the rules that an earlier process left. */
  private fallBack(
    failed: readonly ServiceFailure[],
    entries: readonly ForwardingEntry[],
    actual: Actual,
  ): void {
    const { desired } = this.driver;
    const adopted = this.driver.adopted?.(actual);
    const keys = new Set(failed.map(({ key }) => key));
    for (const { key, name } of adopted ? entries : [])
      if (keys.has(key)) desired.replace(key, adopted!.rules(adopted!.labelsOf(name, undefined) ?? [], key));
  }

  private keepUnexplained(
    { keepUnexplained }: StartOptions,
    entries: readonly ForwardingEntry[],
    actual: Actual,
  ): void {
    const adopted = keepUnexplained ? this.driver.adopted?.(actual) : undefined;
    if (adopted) this.unexplained = UnexplainedRules.kept(this.driver.desired, adopted, entries);
  }

  /** Adds what failed to compile, conflicts and warnings to the result of a write. */
  private result(
    written: ApplyResult,
    failed: readonly ServiceFailure[],
    changes: readonly ForwardingChange[],
  ): ApplyResult {
    const { desired } = this.driver;
    const conflicts = changes.flatMap(({ key }) => desired.conflictsOf(key));
    const notes = changes.flatMap(({ key, entry }) => {
      const note = entry && (endpointsNote(entry) ?? this.driver.warningFor?.(entry));
      return note === undefined ? [] : [{ key, note }];
    });
    const warned = { written: 0, failed, conflicts, ...(notes.length > 0 && { notes }) };
    return mergeResults(warned, written);
  }
}

function withLost<Result extends ApplyResult>(result: Result, lost: ApplyResult['lost']): Result {
  return lost ? { ...result, lost } : result;
}

type Abilities<Actual> = Pick<Adoption<unknown, Actual>, 'udpFrontends' | 'lost'> & PendingDeletes;

/**
 * The UDP frontends that an earlier process left, and which of them are lost (`ApplyResult.lost`). After a start those are that the
 * rules no longer have. A service port that the start could not program keeps the frontends that it had, and so does the kernel what could
 * not be removed: they are lost when that is done at last. Until then they are remembered here.
 */
class LeftFrontends<Actual> {
  private left: readonly FrontendAddress[] = [];
  private readonly refused = new Set<ServicePortKey>();

  constructor(private readonly driver: Partial<Abilities<Actual>>) {}

  /**
   * Everything was programmed, but for what failed.
   * @param actual what the kernel had before
   * @returns undefined if the driver cannot tell
   */
  started(actual: Actual, failed: readonly ServiceFailure[]): readonly FrontendAddress[] | undefined {
    this.refused.clear();
    for (const { key } of failed) this.refused.add(key);
    this.left = this.driver.udpFrontends?.(actual) ?? [];
    return this.driver.lost && this.lost();
  }

  /** Changes were programmed, but for what failed. @returns undefined if it is as before */
  applied(
    changes: readonly ForwardingChange[],
    failed: readonly ServiceFailure[],
  ): readonly FrontendAddress[] | undefined {
    if (this.left.length === 0) return undefined;
    const stillRefused = new Set(failed.map(({ key }) => key));
    const programmed = changes.filter(({ key }) => !stillRefused.has(key) && this.refused.delete(key));
    return programmed.length > 0 ? this.lost() : undefined;
  }

  /** Everything was compared and repaired. @returns undefined if it is as before */
  repaired(): readonly FrontendAddress[] | undefined {
    return this.left.length > 0 ? this.lost() : undefined;
  }

  private lost(): readonly FrontendAddress[] {
    // To find out takes a look at everything that is desired.
    const lost = this.left.length > 0 ? (this.driver.lost?.(this.left) ?? []) : [];
    const known = new Set(lost);
    const isWaiting = this.refused.size > 0 || this.driver.hasPendingDeletes;
    this.left = isWaiting ? this.left.filter((frontend) => !known.has(frontend)) : [];
    return lost;
  }
}

/** Steps between two turns of the event loop: a millisecond or two. */
const STEPS_AT_ONCE = 128;

/** All of them, made in portions. @throws the signal's reason when it is aborted */
export async function listDifferences(
  lines: DifferenceLines,
  signal?: AbortSignal,
): Promise<readonly RuleDifference[]> {
  const listed: RuleDifference[] = [];
  let steps = 0;
  for (const line of lines) {
    if (line) listed.push(line);
    if (++steps % STEPS_AT_ONCE !== 0) continue;
    await yieldToEventLoop();
    signal?.throwIfAborted();
  }
  return listed;
}
