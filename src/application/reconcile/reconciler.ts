import { endpointsNote } from '../../domain/forwarding/endpoint-budget.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { ServicePortName } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { RuleDifference } from '../../domain/reconcile/rule-difference.js';
import type {
  ApplyResult,
  Backend,
  ServiceFailure,
  StartOptions,
  VerificationKind,
  VerifyResult,
} from '../ports/backend.js';
import { RefusedError, type Driver } from '../ports/driver/driver.js';
import type { Logger } from '../ports/logger.js';
import { compileAll, type Candidates, type Compiled } from './compile-all.js';
import { listDifferences } from './list-differences.js';
import { LeftFrontends } from './left-frontends.js';
import { readKernel, type Reading } from './reading.js';
import { RecoveryRound, type RoundOptions, type RoundOutcome } from './recovery-round.js';
import type { RoundBounds } from './round-limits.js';
import { UnexplainedRules } from './unexplained-rules.js';

type Outcome = Omit<RoundOutcome, 'soundEpoch'>;

/**
 * Keeps the kernel equal to the desired state of one family, for any backend: the driver knows how to compile, write,
 * read and compare; the reconciler decides everything else.
 *
 * Memory knows what is committed (the desired state), so a change is the difference of two versions of a service port's
 * rules; nothing is read for it. If the kernel refuses a change, either it is not as remembered or a service port is
 * bad: a round of recovery reads the kernel, writes the differences, and finds out which (`RecoveryRound`). A service
 * port to blame gets back its last good rules or keeps what the kernel has of it, and everything else is applied. The
 * caller tries it again, also if it was to be removed.
 */
export class Reconciler<Rules, Change, Actual> implements Backend {
  readonly mode: string;
  readonly family: IpFamily;
  private node!: NodeNetwork;
  /** The epoch in which the kernel was last found or made equal to the desired state. */
  private soundEpoch: number | undefined;
  private unexplained: UnexplainedRules<Rules, Change>;
  private readonly left: LeftFrontends<Actual>;

  constructor(
    private readonly driver: Driver<Rules, Change, Actual>,
    private readonly logger: Logger,
    private readonly bounds: RoundBounds = {},
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
    const outcome = await this.recover({ signal: options.signal }, reading);
    const result = this.result(outcome, failed, changes);
    return withLost(result, this.left.started(reading.actual, result.failed));
  }

  async apply(
    changes: readonly ForwardingChange[],
    node: NodeNetwork,
    signal?: AbortSignal,
  ): Promise<ApplyResult> {
    if (this.driver.prepare) await this.driver.prepare(changes, node);
    const change = this.driver.newChange();
    const { candidates, failed } = await compileAll(this.driver, this.unexplained, changes, change);
    this.node = node;
    const result = this.result(await this.commit(candidates, change, signal), failed, changes);
    return withLost(result, this.left.applied(changes, result.failed));
  }

  async verify(how: VerificationKind, signal?: AbortSignal): Promise<VerifyResult> {
    const { watch } = this.driver;
    const epoch = await watch.epoch();
    const watched = epoch !== undefined && watch.seesEveryWrite;
    if (how === 'quick' && (epoch === undefined || epoch === this.soundEpoch)) {
      await this.driver.removeUnused?.();
      return { compared: false, watched, written: 0, failed: [], conflicts: [] };
    }
    const removedOwnRemains = this.driver.hasOwnRemains ?? false;
    const outcome = await this.recover({ signal });
    const result = { compared: true, watched, ...outcome, conflicts: [], removedOwnRemains };
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

  get unremoved(): readonly string[] {
    return this.driver.unremoved ?? [];
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
    return { ...(await compileAll(driver, this.unexplained, changes)), changes };
  }

  /** Writes the change, which the desired state already contains, and the node. */
  private async commit(
    candidates: Candidates<Rules>,
    change: Change,
    signal: AbortSignal | undefined,
  ): Promise<Outcome> {
    try {
      const { written, failed = [] } = await this.driver.commit(change, this.node);
      if (failed.length === 0) return { written, failed };
      const rest = await this.recover({ candidates, refused: failed, signal });
      return { written: written + rest.written, failed: rest.failed };
    } catch (error) {
      // What a failed write left behind is unknown until everything has been compared.
      this.soundEpoch = undefined;
      if (!(error instanceof RefusedError)) throw error;
      this.logger.warn(
        { family: this.family, reason: error.message },
        'the kernel refused a change; reading its rules back',
      );
      return this.recover({ candidates, signal });
    }
  }

  /** Makes the kernel equal to the desired state, but for what it refuses. */
  private async recover(options: RoundOptions<Rules>, reading?: Reading<Actual>): Promise<Outcome> {
    const { driver, node, logger, bounds } = this;
    const round = new RecoveryRound(driver, node, logger, { ...bounds, ...options });
    try {
      const { written, failed, soundEpoch } = await round.run(reading);
      this.soundEpoch = soundEpoch;
      return { written, failed };
    } catch (error) {
      // An aborted round has only read.
      if (!options.signal?.aborted) this.soundEpoch = undefined;
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

  private result(
    { written, failed: refused }: Outcome,
    failed: readonly ServiceFailure[],
    changes: readonly ForwardingChange[],
  ): ApplyResult {
    const { desired } = this.driver;
    const conflicts = changes.flatMap(({ key }) => desired.conflictsOf(key));
    const notes = changes.flatMap(({ key, entry }) => {
      const note = entry && (endpointsNote(entry) ?? this.driver.noteOn?.(entry));
      return note === undefined ? [] : [{ key, note }];
    });
    return { written, failed: [...failed, ...refused], conflicts, ...(notes.length > 0 && { notes }) };
  }
}

function withLost<Result extends ApplyResult>(result: Result, lost: ApplyResult['lost']): Result {
  return lost ? { ...result, lost } : result;
}
