import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { ServicePortName, ServicePortKey } from '../../domain/model/service-port-name.js';
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
import { RejectedError, type DifferenceLines, type Driver, type KernelSnapshot } from '../ports/driver.js';
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
 * Keeps the kernel equal to the desired state of one family, for any backend: the driver compiles, writes,
 * read and compare; the reconciler decides everything else.
 *
 * Memory has the committed state (the desired state), so a change is the difference of two versions of a service port's
 * rules; nothing is read for it. If the kernel rejects a change, either it is not as remembered or a service port is
 * bad: a recovery attempt reads the kernel, writes the differences, and finds out which (`RecoveryAttempt`). A rejected
 * service port gets back its last good rules or keeps what the kernel has of it, and everything else is applied. The
 * caller tries it again, also if it was to be removed.
 */
export class Reconciler<Rules, Change> implements Backend {
  readonly mode: Backend['mode'];
  readonly family: Backend['family'];
  readonly rulesDependOn?: NonNullable<Backend['rulesDependOn']>;
  private readonly logger: Logger;
  private node!: NodeNetwork;
  /** The epoch in which the kernel was last found or made equal to the desired state. */
  private lastCleanEpoch: number | undefined;
  private unexplained: UnexplainedRules<Rules, Change>;
  /** UDP frontends that an earlier process left, and that may still be lost (`ApplyResult.lost`). */
  private left: readonly FrontendAddress[] = [];
  /** Service ports that the start could not program: they keep the frontends that they had. */
  private readonly failedAtStart = new Set<ServicePortKey>();

  constructor(
    { mode, family }: Pick<Backend, 'mode' | 'family'>,
    private readonly driver: Driver<Rules, Change>,
    logger: Logger,
    private readonly bounds: RecoveryBounds = {},
  ) {
    this.logger = logger.child({ family });
    this.mode = mode;
    this.family = family;
    this.unexplained = UnexplainedRules.none(driver.desired);
    if (driver.rulesDependOn) this.rulesDependOn = (before, after) => driver.rulesDependOn!(before, after);
  }

  async start(
    entries: Iterable<ForwardingEntry>,
    node: NodeNetwork,
    options: StartOptions = {},
  ): Promise<ApplyResult> {
    const all = [...entries];
    const compiled = await this.compileForStart(all, node, options);
    const reading = await readKernel(this.driver, { mayRecognize: true });
    const { snapshot } = reading;
    this.fallBack(compiled.failed, all, snapshot);
    this.keepUnexplained(options, all, snapshot);
    this.left = snapshot.udpFrontends?.() ?? [];
    // They can only go back to rules of an earlier process.
    const result = resultOf(compiled, await this.recover({ signal: options.signal }, reading));
    this.failedAtStart.clear();
    for (const { key } of result.failed) this.failedAtStart.add(key);
    return this.driver.desired.lost ? { ...result, lost: this.takeLost() } : result;
  }

  async apply(
    changes: readonly ForwardingChange[],
    node: NodeNetwork,
    signal?: AbortSignal,
  ): Promise<ApplyResult> {
    await this.driver.prepare(changes, node);
    const change = this.driver.desired.newChange();
    const compiled = await compileChanges(this.driver, this.unexplained, changes, change);
    this.node = node;
    const result = resultOf(compiled, await this.commit(compiled.candidates, change, signal));
    if (this.failedAtStart.size === 0) return result;
    const failed = new Set(result.failed.map(({ key }) => key));
    const programmed = changes.filter(({ key }) => !failed.has(key) && this.failedAtStart.delete(key));
    return programmed.length > 0 && this.left.length > 0 ? { ...result, lost: this.takeLost() } : result;
  }

  async verify(how: VerificationKind, signal?: AbortSignal): Promise<VerifyResult> {
    const { driver } = this;
    const epoch = await driver.watch.epoch();
    const watched = epoch !== undefined && driver.watch.seesEveryWrite;
    if (how === 'quick' && (epoch === undefined || epoch === this.lastCleanEpoch)) {
      await driver.removeUnused?.();
      return { compared: false, watched, ...NOTHING_APPLIED };
    }
    const retriedDeletes = driver.pendingDeletes !== undefined;
    return { compared: true, watched, retriedDeletes, ...(await this.recover({ signal })) };
  }

  async differences(signal?: AbortSignal): Promise<readonly RuleDifference[] | undefined> {
    const snapshot = await this.driver.read({ signal });
    return snapshot.differences && listDifferences(snapshot.differences(), signal);
  }

  async plannedDifferences(
    entries: Iterable<ForwardingEntry>,
    node: NodeNetwork,
    options: StartOptions = {},
  ): Promise<readonly RuleDifference[] | undefined> {
    const all = [...entries];
    await this.compileForStart(all, node, options);
    const snapshot = await this.driver.read();
    this.keepUnexplained(options, all, snapshot);
    return snapshot.differences && listDifferences(snapshot.differences());
  }

  mayKeep(name: ServicePortName): boolean {
    return this.unexplained.has(name);
  }

  get failedDeletes(): readonly string[] {
    return this.driver.pendingDeletes ?? [];
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
  ): Promise<Compiled<Rules>> {
    const { driver } = this;
    this.node = node;
    const changes = entries.map((entry) => ({ key: entry.key, entry }));
    await driver.prepare(changes, node, options);
    this.unexplained = UnexplainedRules.none(driver.desired);
    return compileChanges(driver, this.unexplained, changes);
  }

  /** Writes the change, which the desired state already contains, and the node. */
  private async commit(
    candidates: Candidates<Rules>,
    change: Change,
    signal: AbortSignal | undefined,
  ): Promise<ApplyResult> {
    try {
      const { written, failed = [] } = await this.driver.commit(change, this.node);
      const result = { written, failed: [] };
      if (failed.length === 0) return result;
      return mergeResults(result, await this.recover({ candidates, rejected: failed, signal }));
    } catch (error) {
      // The effect of a failed write is unknown until everything has been compared.
      this.lastCleanEpoch = undefined;
      if (!(error instanceof RejectedError)) throw error;
      this.logger.debug({ reason: error.message }, 'the kernel rejected a change; reading its rules back');
      return this.recover({ candidates, signal });
    }
  }

  /** Makes the kernel equal to the desired state, except for what it rejects. */
  private async recover(options: RecoveryOptions<Rules>, reading?: Reading<Rules>): Promise<ApplyResult> {
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
    snapshot: KernelSnapshot<Rules>,
  ): void {
    const adopted = failed.length > 0 ? snapshot.adopted?.() : undefined;
    if (!adopted) return;
    const keys = new Set(failed.map(({ key }) => key));
    for (const { key, name } of entries)
      if (keys.has(key))
        this.driver.desired.replace(key, adopted.rules(adopted.labelsOf(name, undefined) ?? [], key));
  }

  private keepUnexplained(
    { keepUnexplained }: StartOptions,
    entries: readonly ForwardingEntry[],
    snapshot: KernelSnapshot<Rules>,
  ): void {
    const adopted = keepUnexplained ? snapshot.adopted?.() : undefined;
    if (adopted) this.unexplained = UnexplainedRules.kept(this.driver.desired, adopted, entries);
  }

  /** The UDP frontends that are lost by now. Those of service ports that failed at the start may be lost later. */
  private takeLost(): readonly FrontendAddress[] {
    // This needs a pass over the whole desired state.
    const lost = this.left.length > 0 ? (this.driver.desired.lost?.(this.left) ?? []) : [];
    const known = new Set(lost);
    this.left = this.failedAtStart.size > 0 ? this.left.filter((frontend) => !known.has(frontend)) : [];
    return lost;
  }
}

/** Adds what failed to compile, and warnings, to the result of a write. */
function resultOf({ failed, notes }: Compiled<unknown>, written: ApplyResult): ApplyResult {
  return mergeResults({ written: 0, failed, ...(notes.length > 0 && { notes }) }, written);
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
