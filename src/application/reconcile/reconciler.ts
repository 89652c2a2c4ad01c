import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { AdoptedRules } from '../../domain/reconcile/adopted-rules.js';
import type { RuleDifference } from '../../domain/reconcile/rule-difference.js';
import { isUnexplained } from '../../domain/reconcile/unexplained.js';
import type {
  ApplyResult,
  Backend,
  ServiceFailure,
  StartOptions,
  VerificationKind,
  VerifyResult,
} from '../ports/backend.js';
import { RefusedError, type Driver, type ReadOptions, type WriteResult } from '../ports/driver.js';
import type { Logger } from '../ports/logger.js';
import { restore, withAdopted, type Candidate, type Candidates } from './candidates.js';
import { compileAll, type Compiled } from './compile-all.js';
import { listDifferences } from './list-differences.js';
import { UnexplainedRules } from './unexplained-rules.js';

/** What was read, and the epoch in which it was read. */
interface Reading<Actual> {
  readonly actual: Actual;
  readonly epoch: number | undefined;
}

type Outcome = Required<WriteResult>;

interface Reconciliation<Rules, Actual> {
  /** Used instead of reading the kernel first. */
  readonly reading?: Reading<Actual> | undefined;
  /** Fallback for refused service ports that had no rules in this process. */
  readonly adopted?: AdoptedRules<Rules> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Keeps the kernel equal to the desired state of one family, for any backend: the driver knows how to compile, write,
 * read and compare; the reconciler decides everything else.
 *
 * Memory knows what is committed (the desired state), so a change is the difference of two versions of a service port's
 * rules; nothing is read for it. If the kernel refuses a change, either it is not as remembered or a service port is
 * bad. Then the kernel is read back and the differences are written instead. If that is refused, too, the culprits are
 * the service ports that the refusal names; if it names none, all candidates are taken back and tried again in ever
 * smaller groups. A culprit gets back its last good rules, or those that an earlier process left, and everything else
 * is applied. The caller retries it.
 */
export class Reconciler<Rules, Change, Actual> implements Backend {
  readonly mode: string;
  readonly family: IpFamily;
  private node!: NodeNetwork;
  /** The epoch in which the kernel was last found or made equal to the desired state. */
  private soundEpoch: number | undefined;
  private unexplained: UnexplainedRules<Rules, Change>;

  constructor(
    private readonly driver: Driver<Rules, Change, Actual>,
    private readonly logger: Logger,
  ) {
    this.mode = driver.mode;
    this.family = driver.family;
    this.unexplained = UnexplainedRules.none(driver.desired);
    if (driver.rulesDependOn) this.rulesDependOn = (before, after) => driver.rulesDependOn!(before, after);
  }

  readonly rulesDependOn?: Backend['rulesDependOn'];

  async start(
    entries: Iterable<ForwardingEntry>,
    node: NodeNetwork,
    options: StartOptions = {},
  ): Promise<ApplyResult> {
    const { driver } = this;
    const all = [...entries];
    const { candidates, failed, changes } = await this.compileForStart(all, node, options);
    const reading = await this.read({ mayRecognize: true });
    const adopted = driver.adopted?.(reading.actual);
    if (adopted && failed.length > 0) this.fallBack(failed, all, adopted);
    if (adopted && options.keepUnexplained)
      this.unexplained = UnexplainedRules.kept(driver.desired, adopted, all);
    const outcome = await this.reconcile(candidates, { reading, adopted });
    const lost = driver.lost?.(reading.actual) ?? [];
    return { ...this.result(outcome, failed, changes), ...(lost.length > 0 && { lost }) };
  }

  async apply(changes: readonly ForwardingChange[], node: NodeNetwork): Promise<ApplyResult> {
    if (this.driver.prepare) await this.driver.prepare(changes, node);
    const change = this.driver.newChange();
    const { candidates, failed } = await compileAll(this.driver, this.unexplained, changes, change);
    this.node = node;
    return this.result(await this.commit(candidates, change), failed, changes);
  }

  async verify(how: VerificationKind, signal?: AbortSignal): Promise<VerifyResult> {
    const { watch } = this.driver;
    const epoch = await watch.epoch();
    const watched = epoch !== undefined && watch.seesEveryWrite;
    if (how === 'quick' && (epoch === undefined || epoch === this.soundEpoch)) {
      await this.driver.removeUnused?.();
      return { compared: false, watched, written: 0, failed: [], conflicts: [] };
    }
    const outcome = await this.reconcile(new Map(), { signal });
    return { compared: true, watched, ...outcome, conflicts: [] };
  }

  async differences(signal?: AbortSignal): Promise<readonly RuleDifference[] | undefined> {
    const actual = await this.driver.read({ signal });
    const lines = await this.driver.differences?.(actual, signal);
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
    const adopted = this.driver.adopted?.(actual);
    if (adopted && options.keepUnexplained) UnexplainedRules.kept(this.driver.desired, adopted, all);
    const lines = await this.driver.differences?.(actual);
    return lines && listDifferences(lines);
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
  private async commit(candidates: Candidates<Rules>, change: Change): Promise<Outcome> {
    try {
      const { written, failed = [] } = await this.write(() => this.driver.commit(change, this.node));
      if (failed.length === 0) return { written, failed };
      const rest = await this.reconcile(candidates);
      return { written: written + rest.written, failed: rest.failed };
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      this.logger.warn(
        { family: this.family, reason: error.message },
        'the kernel refused a change; reading its rules back',
      );
      return this.reconcile(candidates);
    }
  }

  /** Reads the kernel and writes its differences from the desired state, without the refused candidates. */
  private async reconcile(
    candidates: Candidates<Rules>,
    { reading, adopted, signal }: Reconciliation<Rules, Actual> = {},
  ): Promise<Outcome> {
    const failed: ServiceFailure[] = [];
    let pending: Map<ServicePortKey, Candidate<Rules>> | undefined;
    await this.driver.removeUnused?.();
    for (;;) {
      const { actual, epoch } = reading ?? (await this.read({ signal }));
      signal?.throwIfAborted();
      reading = undefined;
      try {
        const { written, failed: rest = [] } = await this.write(() => this.driver.repair(actual));
        this.soundEpoch = this.driver.isPartial?.(actual) ? undefined : epoch;
        return { written, failed: [...failed, ...rest] };
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error;
        this.logger.warn(
          { family: this.family, reason: error.message },
          'the kernel refused rules; looking for the service port to blame',
        );
        // From here on something may be set aside, which must be reported.
        signal = undefined;
        pending ??= withAdopted(candidates, adopted);
        const suspects = pending.size > 0 ? pending : this.holdersOf(error.suspects);
        const culprits = [...error.culprits].filter(([key]) => this.driver.desired.rules(key) !== undefined);
        if (culprits.length === 0 && suspects.size === 0) throw error;
        if (culprits.length === 0) return this.halve(suspects, failed);
        for (const [key, reason] of culprits) {
          failed.push(...this.failure(key, reason));
          this.driver.desired.replace(key, pending.get(key)?.former);
          pending.delete(key);
        }
      }
    }
  }

  /** Takes all candidates back, repairs the kernel without them, and tries them again in ever smaller groups. */
  private async halve(pending: Candidates<Rules>, failed: readonly ServiceFailure[]): Promise<Outcome> {
    restore(this.driver.desired, pending);
    const base = await this.reconcile(new Map());
    const rest = await this.tryGroup([...pending]);
    return {
      written: base.written + rest.written,
      failed: [...failed, ...base.failed, ...rest.failed],
    };
  }

  private async tryGroup(group: readonly (readonly [ServicePortKey, Candidate<Rules>])[]): Promise<Outcome> {
    const { driver } = this;
    const change = driver.newChange();
    for (const [key, { wanted }] of group) driver.desired.replace(key, wanted, change);
    try {
      return { failed: [], ...(await this.write(() => driver.commit(change, this.node))) };
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      restore(driver.desired, group);
      if (error.isPartial) await this.reconcile(new Map());
      if (group.length === 1) return { written: 0, failed: this.failure(group[0]![0], error.message) };
      const middle = group.length >> 1;
      const one = await this.tryGroup(group.slice(0, middle));
      const other = await this.tryGroup(group.slice(middle));
      return { written: one.written + other.written, failed: [...one.failed, ...other.failed] };
    }
  }

  /** What a failed write left behind is unknown until everything has been compared. */
  private async write(work: () => Promise<WriteResult>): Promise<WriteResult> {
    try {
      return await work();
    } catch (error) {
      this.soundEpoch = undefined;
      throw error;
    }
  }

  private async read(options: ReadOptions): Promise<Reading<Actual>> {
    const epoch = await this.driver.watch.epoch();
    return { epoch, actual: await this.driver.read(options) };
  }

  /** Service ports that cannot be compiled keep the rules that an earlier process left. */
  private fallBack(
    failed: readonly ServiceFailure[],
    entries: readonly ForwardingEntry[],
    adopted: AdoptedRules<Rules>,
  ): void {
    const keys = new Set(failed.map(({ key }) => key));
    for (const { key, name } of entries)
      if (keys.has(key)) this.driver.desired.replace(key, adopted.rules(adopted.label(name), key));
  }

  /** Service ports without a candidate: their rules in the kernel are gone, so they have nothing to fall back to. */
  private holdersOf(owners: Iterable<ServicePortKey>): Candidates<Rules> {
    const { desired } = this.driver;
    return new Map(
      Array.from(owners, (key) => [key, { wanted: desired.rules(key), former: undefined }] as const),
    );
  }

  /** Unexplained rules have no known service port to report. */
  private failure(key: ServicePortKey, reason: string): readonly ServiceFailure[] {
    if (!isUnexplained(key)) return [{ key, reason }];
    this.logger.warn(
      { family: this.family, reason },
      'the kernel refused rules of an unknown service port; they are gone',
    );
    return [];
  }

  private result(
    { written, failed: refused }: Outcome,
    failed: readonly ServiceFailure[],
    changes: readonly ForwardingChange[],
  ): ApplyResult {
    const { desired } = this.driver;
    const conflicts = changes.flatMap(({ key }) => desired.conflictsOf(key));
    const notes = changes.flatMap(({ key, entry }) => {
      const note = entry && this.driver.noteOn?.(entry);
      return note === undefined ? [] : [{ key, note }];
    });
    return { written, failed: [...failed, ...refused], conflicts, ...(notes.length > 0 && { notes }) };
  }
}
