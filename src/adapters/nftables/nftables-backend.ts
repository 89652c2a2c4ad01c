import { errorMessage } from '../../application/error-message.js';
import type {
  ApplyResult,
  Backend,
  FrontendClash,
  ServiceFailure,
  StartOptions,
  VerificationKind,
  VerifyResult,
} from '../../application/ports/backend.js';
import type { Logger } from '../../application/ports/logger.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { ServicePortKey, ServicePortName } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { compileNftables } from '../../domain/nftables/compile.js';
import { TableComposition } from '../../domain/nftables/composition.js';
import type { Fragment } from '../../domain/nftables/fragment.js';
import { nodeTransaction } from '../../domain/nftables/node-transaction.js';
import { lostUdpFrontends } from '../../domain/nftables/lost-frontends.js';
import { PresentFragments, type PresentSets } from '../../domain/nftables/present-fragments.js';
import { POSSIBLE_SETS } from '../../domain/nftables/sets.js';
import { TableDelta } from '../../domain/nftables/table-delta.js';
import type { Structure } from '../../domain/nftables/structure.js';
import { tableImage, tableSets } from '../../domain/nftables/table-image.js';
import { deltaTransactions, idleRemovals, type Transaction } from '../../domain/nftables/transaction.js';
import { isUnexplained, UnexplainedFragments } from '../../domain/nftables/unexplained.js';
import { isOfAnotherLayout, tableDifference } from './difference.js';
import type { GenerationWatch } from './generation-watch.js';
import { SILENT_OBSERVER, type NftablesObserver } from './nftables-observer.js';
import { inPieces } from './pieces.js';
import { NftCommitError, type NftTransport } from './transport.js';

export interface NftablesBackendOptions {
  readonly observer?: NftablesObserver;
  readonly compile?: (entry: ForwardingEntry) => Fragment;
}

/** A fragment on its way into the kernel, and what its service port had before. */
interface Candidate {
  /** Undefined when the service port goes. */
  readonly name?: ServicePortName;
  readonly wanted: Fragment | undefined;
  readonly former: Fragment | undefined;
}

type Candidates = ReadonlyMap<ServicePortKey, Candidate>;
type Names = ReadonlyMap<ServicePortKey, ServicePortName>;

/**
 * Programs one family's table `kube-proxy` through a transport.
 *
 * What is committed is known in memory (the composition), so a change is a transaction made from the difference of two
 * fragments. When the kernel refuses one, something is not as remembered, or a service is bad: the table is read back
 * and the difference applied instead. What is refused then is blamed on the service ports that the kernel names, or
 * found by halving; these get back what they had before, and everything else is applied.
 */
export class NftablesBackend implements Backend {
  readonly mode = 'nftables';
  private composition = new TableComposition();
  private unexplained = new UnexplainedFragments(this.composition);
  private node: NodeNetwork | undefined;
  /** What the kernel has and nobody needs any more, by name: it stays while packets may be on their way to it. */
  private readonly idle = new Map<string, Structure>();
  /** The epoch in which the table was last found equal to the composition, or made so. */
  private soundEpoch: number | undefined;
  private readonly observer: NftablesObserver;
  private readonly compile: NonNullable<NftablesBackendOptions['compile']>;

  constructor(
    readonly family: IpFamily,
    private readonly transport: NftTransport,
    private readonly generations: GenerationWatch,
    private readonly logger: Logger,
    { observer = SILENT_OBSERVER, compile = compileNftables }: NftablesBackendOptions = {},
  ) {
    this.observer = observer;
    this.compile = compile;
  }

  async start(
    entries: Iterable<ForwardingEntry>,
    node: NodeNetwork,
    { keepUnexplained = false }: StartOptions = {},
  ): Promise<ApplyResult> {
    this.composition = new TableComposition();
    this.unexplained = new UnexplainedFragments(this.composition);
    this.node = node;
    const candidates = new Map<ServicePortKey, Candidate>();
    const names = new Map<ServicePortKey, ServicePortName>();
    const failed: ServiceFailure[] = [];
    for (const entry of entries) {
      names.set(entry.key, entry.name);
      const wanted = this.compiled(entry, failed);
      if (!wanted) continue;
      this.composition.replace(entry.key, wanted);
      candidates.set(entry.key, { wanted, former: undefined });
    }
    const { failed: refused, ...outcome } = await this.reconcile(candidates, {
      adopting: names,
      keepUnexplained,
    });
    return { ...outcome, failed: [...failed, ...refused], conflicts: this.conflicts(candidates.keys()) };
  }

  async apply(changes: readonly ForwardingChange[], node: NodeNetwork): Promise<ApplyResult> {
    const failed: ServiceFailure[] = [];
    const candidates = new Map<ServicePortKey, Candidate>();
    for (const { key, entry } of changes) {
      const wanted = entry && this.compiled(entry, failed);
      if (entry && !wanted) continue;
      const before = candidates.get(key);
      const name = entry?.name ?? before?.name;
      const kept = name && this.unexplained.of(name);
      const former = before?.former ?? this.composition.fragment(key) ?? kept;
      candidates.set(key, { name, wanted, former });
    }
    const outcome = await this.commit(candidates, node);
    return {
      written: outcome.written,
      failed: [...failed, ...outcome.failed],
      conflicts: this.conflicts(candidates.keys()),
    };
  }

  async verify(how: VerificationKind, signal?: AbortSignal): Promise<VerifyResult> {
    const epoch = await this.generations.epoch();
    const untouched = how !== 'comparison' && epoch !== undefined && epoch === this.soundEpoch;
    if (untouched || (how === 'glance' && epoch === undefined)) {
      await this.removeIdle();
      return { compared: false, written: 0, failed: [], conflicts: [] };
    }
    return { compared: true, ...(await this.reconcile(new Map(), { signal })), conflicts: [] };
  }

  async cleanup(): Promise<void> {
    if ((await this.transport.read(this.family, [])) === undefined) return;
    await this.transport.commit(this.family, [{ op: 'delete-table' }]);
    this.logger.info({ family: this.family }, 'removed table kube-proxy');
  }

  async close(): Promise<void> {
    await this.transport.close();
  }

  private compiled(entry: ForwardingEntry, failed: ServiceFailure[]): Fragment | undefined {
    try {
      return this.compile(entry);
    } catch (error) {
      failed.push({ key: entry.key, reason: `cannot be compiled: ${errorMessage(error)}` });
      return undefined;
    }
  }

  /** Applies candidates and node as a difference to what is in memory. */
  private async commit(candidates: Candidates, node: NodeNetwork): Promise<Outcome> {
    const former = this.node;
    // Rules of idle chains were made for the former node.
    if (former && former !== node) await this.removeIdle();
    this.node = node;
    const delta = new TableDelta();
    for (const [key, { name, wanted }] of candidates) {
      if (name) this.unexplained.yieldTo(name, wanted, delta);
      this.composition.replace(key, wanted, delta);
    }
    try {
      return { written: await this.commitDelta(delta, node, former), failed: [] };
    } catch (error) {
      if (!(error instanceof NftCommitError)) throw error;
      this.logger.warn(
        { family: this.family, reason: error.message },
        'transaction refused; reading the table back',
      );
      return this.reconcile(candidates);
    }
  }

  /** Commits what the composition has become; how many steps that took. When it is refused, no element has changed. */
  private async commitDelta(delta: TableDelta, node: NodeNetwork, former = node): Promise<number> {
    const { arrivals, departures } = delta;
    const { structures, elements, remains } = deltaTransactions(delta, this.composition, node, this.idle);
    if (former !== node) nodeTransaction(former, node, this.composition, elements);
    await this.send(structures);
    for (const structure of arrivals) this.idle.set(structure.name, structure);
    await this.send(elements);
    for (const { name } of arrivals) this.idle.delete(name);
    for (const structure of departures) this.idle.set(structure.name, structure);
    await this.remove(remains);
    return stepsOf([structures, elements, remains]);
  }

  /**
   * Reads the table back and applies what separates it from the composition, without the candidates that are refused.
   * When `adopting`, which has the names of all service ports, those that fail keep what an earlier process left; with
   * `keepUnexplained`, so do those that are not among the names.
   */
  private async reconcile(
    candidates: Candidates,
    { adopting, keepUnexplained, signal }: Reconciliation = {},
  ): Promise<Outcome> {
    const failed: ServiceFailure[] = [];
    const pending = new Map(candidates);
    let left: PresentFragments | undefined;
    let former: PresentSets = new Map();
    let interruption = signal;
    await this.removeIdle();
    for (;;) {
      const epoch = await this.generations.epoch();
      const sets = adopting ? POSSIBLE_SETS : tableSets(this.composition);
      const state = await this.transport.read(this.family, sets, interruption);
      if (adopting && !left) {
        if (state && !isOfAnotherLayout(state)) former = state.sets;
        else if (state && keepUnexplained)
          this.logger.warn(
            { family: this.family },
            'the table is of another layout; nothing can be kept of it',
          );
        left = new PresentFragments(former);
        for (const [key, name] of adopting)
          if (!pending.has(key)) this.composition.replace(key, this.leftFor(key, name, left));
        if (keepUnexplained) this.unexplained.keep(left, adopting.values());
      }
      const image = tableImage(this.composition, this.node!);
      const { repair, removals, replaces } = tableDifference(image, state, this.family, this.transport);
      if (replaces)
        this.logger.info({ family: this.family }, 'replacing a table kube-proxy of another layout');
      const pieces = replaces ? [repair] : inPieces(repair);
      let piece: Transaction = repair;
      try {
        for (piece of pieces) await this.send(piece);
        const written = stepsOf([repair, ...removals]);
        for (const removal of removals) await this.remove(removal);
        this.soundEpoch = epoch;
        const lost = lostUdpFrontends(former, image);
        return { written, failed, ...(lost.length > 0 && { lost }) };
      } catch (error) {
        if (!(error instanceof NftCommitError)) throw error;
        // What is set aside now must be reported.
        interruption = undefined;
        if (adopting && left) this.rememberLeft(pending, adopting, left);
        const suspects = pending.size > 0 ? pending : this.ownersIn(repair);
        const culprits = blame(error, piece, suspects);
        if (culprits.size === 0 && suspects.size === 0) throw error;
        if (culprits.size === 0) return this.halve(suspects, failed);
        for (const [key, reason] of culprits) {
          failed.push(...this.failure(key, reason));
          this.composition.replace(key, suspects.get(key)!.former);
          pending.delete(key);
        }
      }
    }
  }

  private rememberLeft(pending: Map<ServicePortKey, Candidate>, names: Names, left: PresentFragments): void {
    for (const [key, { wanted, former }] of pending)
      pending.set(key, { wanted, former: former ?? this.leftFor(key, names.get(key)!, left) });
  }

  /** What an earlier process left for a service port, but for frontends that now are another's. */
  private leftFor(key: ServicePortKey, name: ServicePortName, left: PresentFragments): Fragment | undefined {
    return left.fragment(name, (part) => (this.composition.holder(part) ?? key) !== key);
  }

  /** The service ports that a repair is about: what they had is gone, so they have nothing to fall back to. */
  private ownersIn(repair: Transaction): Candidates {
    const keys = repair.operations.flatMap((_, index) => repair.ownersOf(index));
    return new Map(keys.map((key) => [key, { wanted: this.composition.fragment(key), former: undefined }]));
  }

  /** Takes all candidates back, repairs the table without them, and tries them again in ever smaller groups. */
  private async halve(pending: Candidates, failed: readonly ServiceFailure[]): Promise<Outcome> {
    for (const [key, { former }] of pending) this.composition.replace(key, former);
    const base = await this.reconcile(new Map());
    const rest = await this.tryGroups([...pending]);
    return { ...base, written: base.written + rest.written, failed: [...failed, ...rest.failed] };
  }

  private async tryGroups(group: readonly (readonly [ServicePortKey, Candidate])[]): Promise<Outcome> {
    const delta = new TableDelta();
    for (const [key, { wanted }] of group) this.composition.replace(key, wanted, delta);
    try {
      return { written: await this.commitDelta(delta, this.node!), failed: [] };
    } catch (error) {
      if (!(error instanceof NftCommitError)) throw error;
      for (const [key, { former }] of group) this.composition.replace(key, former);
      if (group.length === 1) return { written: 0, failed: this.failure(group[0]![0], error.message) };
      const middle = group.length >> 1;
      const one = await this.tryGroups(group.slice(0, middle));
      const other = await this.tryGroups(group.slice(middle));
      return { written: one.written + other.written, failed: [...one.failed, ...other.failed] };
    }
  }

  /** Nobody knows the service port of what was kept for one that is unknown. */
  private failure(key: ServicePortKey, reason: string): readonly ServiceFailure[] {
    if (!isUnexplained(key)) return [{ key, reason }];
    this.logger.warn(
      { family: this.family, reason },
      'rules that nothing explains were refused, and are gone',
    );
    return [];
  }

  private async send(transaction: Transaction): Promise<void> {
    if (transaction.operations.length === 0) return;
    await this.generations.ours(() => this.transport.commit(this.family, transaction.operations));
  }

  private async removeIdle(): Promise<void> {
    const removals = idleRemovals(this.idle, this.composition, this.node!);
    this.idle.clear();
    for (const removal of removals) await this.remove(removal);
  }

  /** Removes leftovers. What the kernel still holds on to is found again by the next verification. */
  private async remove(removal: Transaction): Promise<void> {
    try {
      await this.send(removal);
    } catch (error) {
      if (!(error instanceof NftCommitError)) throw error;
      this.observer.cleanupFailed(this.family);
      this.logger.warn(
        { family: this.family, reason: error.message },
        'could not remove what is unused; will try again',
      );
    }
  }

  private conflicts(keys: Iterable<ServicePortKey>): readonly FrontendClash[] {
    return [...keys].flatMap((key) => this.composition.conflictsOf(key));
  }
}

interface Outcome extends Pick<ApplyResult, 'lost'> {
  readonly written: number;
  readonly failed: readonly ServiceFailure[];
}

interface Reconciliation extends StartOptions {
  readonly adopting?: Names;
  readonly signal?: AbortSignal;
}

/** The candidates behind the operations that the kernel named, each with the reason. */
function blame(
  { failures }: NftCommitError,
  transaction: Transaction,
  candidates: Candidates,
): ReadonlyMap<ServicePortKey, string> {
  const culprits = new Map<ServicePortKey, string>();
  for (const { operation, element, reason } of failures) {
    if (operation === undefined) continue;
    const { op } = transaction.operations[operation] ?? {};
    const owner = element === undefined ? undefined : transaction.owner(operation, element);
    if (owner !== undefined && candidates.has(owner))
      culprits.set(owner, `the kernel refused ${op}: ${reason}`);
  }
  return culprits;
}

function stepsOf(transactions: readonly Transaction[]): number {
  return transactions.reduce((sum, { operations }) => sum + operations.length, 0);
}
