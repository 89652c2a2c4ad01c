import { setImmediate as breathe } from 'node:timers/promises';
import { errorMessage } from '../../application/error-message.js';
import type {
  ApplyResult,
  Backend,
  ServiceFailure,
  StartOptions,
  VerificationKind,
  VerifyResult,
} from '../../application/ports/backend.js';
import type { Logger } from '../../application/ports/logger.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { isServiceChain as isChainOfService } from '../../domain/iptables/chain-names.js';
import { compileIptables } from '../../domain/iptables/compile/compile.js';
import { IptablesDesiredState } from '../../domain/iptables/state/desired-state.js';
import type { IptablesChange } from '../../domain/iptables/state/iptables-change.js';
import { iptablesBaseRules } from '../../domain/iptables/compile/base-rules.js';
import { baseRulesChange } from '../../domain/iptables/state/base-rules-change.js';
import { DesiredTables } from '../../domain/iptables/state/desired-tables.js';
import { lostUdpFrontends, type Dispatch } from '../../domain/iptables/state/lost-frontends.js';
import { compilesAlike, type IptablesHost } from '../../domain/iptables/compile/options.js';
import type { SavedTables } from '../../domain/iptables/text/saved-tables.js';
import type { IptablesServicePortRules, BaseRules } from '../../domain/iptables/table.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { FrontendConflict } from '../../domain/reconcile/claims.js';
import { blame, replaceAll, type Candidate, type Candidates } from './candidates.js';
import { changeScript } from './restore/change-script.js';
import { cleanUpScripts, IPTABLES_CHAINS } from './restore/clean-up-scripts.js';
import { tablesDifference } from './restore/tables-difference.js';
import { RestoreRefusedError } from './errors.js';
import type { IptablesCommands } from './iptables-commands.js';
import { SILENT_OBSERVER, type IptablesObserver } from './iptables-observer.js';
import { NotedEntries } from './noted-entries.js';
import { IptablesAdoptedRules } from '../../domain/iptables/state/adopted-rules.js';
import type { RestoreScript } from './restore/restore-script.js';
import { RuleTally } from './restore/rule-tally.js';
import type { RulesWatch } from './rules-watch.js';
import { seemsSound } from './watch/canary-watch.js';
import { withUnexplained } from './unexplained-rules.js';

/** Service ports between two looks at what else there is to do: a millisecond or two. */
const COMPILED_AT_ONCE = 128;

export interface IptablesBackendOptions {
  readonly observer?: IptablesObserver;
  readonly compile?: typeof compileIptables;
  readonly frame?: (node: NodeNetwork, host: IptablesHost) => BaseRules;
  /** What removes everything that is written here. */
  readonly cleanUp?: (saved: SavedTables, chainsPerCommit: number) => readonly RestoreScript[];
  /** Which chains of table nat go when no service port has them. Missing: those of mode iptables. */
  readonly isServiceChain?: (name: string) => boolean;
  /** How rules lead from a frontend to its service port. Missing: those of mode iptables. */
  readonly dispatch?: Dispatch;
}

interface Outcome extends Pick<ApplyResult, 'lost'> {
  readonly written: number;
  readonly failed: readonly ServiceFailure[];
}

/** What the tables hold, and the epoch in which that is so. */
interface TablesAsRead {
  readonly saved: SavedTables;
  readonly epoch: number | undefined;
}

interface ReconcileOptions {
  /** What an earlier process left, at a start: those that are refused keep it. */
  readonly left?: IptablesAdoptedRules;
  /** Listed already. */
  readonly present?: TablesAsRead;
  readonly signal?: AbortSignal;
}

/**
 * Programs one family's tables filter, nat and mangle through iptables-restore.
 *
 * What is committed is known in memory (the composition), so a change is a restore made from the difference of two
 * fragments. When it is refused, something is not as remembered, or a service is bad: the tables are read back and the
 * difference applied instead. What is refused then is blamed on the service port whose line is named, or found by
 * halving; these get back what they had before, and everything else is applied.
 */
export class IptablesBackend implements Backend {
  readonly mode = 'iptables';
  private composition = new IptablesDesiredState();
  private entries = new NotedEntries();
  private node!: NodeNetwork;
  private host!: IptablesHost;
  private frame!: BaseRules;
  private chainsPerCommit = Infinity;
  private readonly tally = new RuleTally();
  /** The epoch in which the tables were last found equal to the composition, or made so. */
  private soundEpoch: number | undefined;
  /** Why unused chains cannot be removed. */
  private held: string | undefined;
  private readonly observer: IptablesObserver;
  private readonly compile: NonNullable<IptablesBackendOptions['compile']>;
  private readonly frameFor: NonNullable<IptablesBackendOptions['frame']>;
  private readonly cleanUp: NonNullable<IptablesBackendOptions['cleanUp']>;
  private readonly isServiceChain: NonNullable<IptablesBackendOptions['isServiceChain']>;
  private readonly dispatch: IptablesBackendOptions['dispatch'];

  /** @param readHost what this host's tools and kernel can do; asked at each start */
  constructor(
    readonly family: IpFamily,
    private readonly commands: IptablesCommands,
    private readonly watch: RulesWatch,
    private readonly readHost: () => Promise<IptablesHost>,
    private readonly logger: Logger,
    {
      observer = SILENT_OBSERVER,
      compile = compileIptables,
      frame = iptablesBaseRules,
      cleanUp = (saved, limit) => cleanUpScripts(saved, IPTABLES_CHAINS, undefined, limit),
      isServiceChain = isChainOfService,
      dispatch,
    }: IptablesBackendOptions = {},
  ) {
    this.observer = observer;
    this.compile = compile;
    this.frameFor = frame;
    this.cleanUp = cleanUp;
    this.isServiceChain = isServiceChain;
    this.dispatch = dispatch;
  }

  async start(
    entries: Iterable<ForwardingEntry>,
    node: NodeNetwork,
    { keepUnexplained = false }: StartOptions = {},
  ): Promise<ApplyResult> {
    this.tally.begin();
    this.composition = new IptablesDesiredState();
    this.entries = new NotedEntries();
    for (const entry of entries) this.entries.note(entry.key, entry);
    const reading = [this.present(), this.readHost(), this.commands.chainsPerCommit()] as const;
    const [present, host, chainsPerCommit] = await Promise.all(reading);
    this.host = host;
    this.chainsPerCommit = chainsPerCommit;
    this.node = node;
    this.frame = this.frameFor(node, host);
    const left = new IptablesAdoptedRules(present.saved, this.frame);
    const failed: ServiceFailure[] = [];
    const known = this.compileAll(this.entries.all(), failed, node, left);
    const all = keepUnexplained ? withUnexplained(known, left, this.entries, this.composition) : known;
    const candidates = await this.takeIn(all);
    const outcome = await this.reconcile(candidates, { left, present });
    return this.result(outcome, failed, candidates.keys());
  }

  async apply(changes: readonly ForwardingChange[], node: NodeNetwork): Promise<ApplyResult> {
    this.tally.begin();
    for (const { key, entry } of changes) this.entries.note(key, entry);
    const failed: ServiceFailure[] = [];
    const changed = compilesAlike(this.node, node)
      ? changes.map(({ key }) => [key, this.entries.get(key)] as const)
      : [...this.entries.all(), ...changes.map(({ key }) => [key, this.entries.get(key)] as const)];
    const candidates = new Map(this.compileAll(changed, failed, node));
    const outcome = await this.commit(candidates, node);
    return this.result(outcome, failed, candidates.keys());
  }

  async verify(how: VerificationKind, signal?: AbortSignal): Promise<VerifyResult> {
    if (how === 'quick' && (await this.isUntouched()))
      return { compared: false, written: 0, failed: [], conflicts: [] };
    return { compared: true, ...(await this.reconcile(new Map(), { signal })), conflicts: [] };
  }

  async cleanup(): Promise<void> {
    const saved = await this.commands.save(this.family);
    const errors: unknown[] = [];
    for (const script of this.cleanUp(saved, await this.commands.chainsPerCommit())) {
      try {
        await this.send(script);
      } catch (error) {
        this.logger.error({ family: this.family, error }, 'could not remove all of the iptables rules');
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, `rules of ${this.family} are left in iptables`);
  }

  close(): Promise<void> {
    this.commands.close();
    return Promise.resolve();
  }

  /** By the signs: where there are none, an inspection trusts nothing. */
  private async isUntouched(): Promise<boolean> {
    const epoch = await this.watch.epoch();
    if (epoch !== undefined) return epoch === this.soundEpoch;
    return seemsSound(this.frame, this.family, this.commands);
  }

  /** Has the empty composition take the candidates in while they are compiled: each may depend on those before. */
  private async takeIn(all: Iterable<readonly [ServicePortKey, Candidate]>): Promise<Candidates> {
    const candidates = new Map<ServicePortKey, Candidate>();
    for (const [key, candidate] of all) {
      candidates.set(key, candidate);
      this.composition.replace(key, candidate.wanted);
      if (candidates.size % COMPILED_AT_ONCE === 0) await breathe();
    }
    return candidates;
  }

  /** What cannot be compiled keeps what it has, or what an earlier process left. */
  private *compileAll(
    entries: Iterable<readonly [ServicePortKey, ForwardingEntry | undefined]>,
    failed: ServiceFailure[],
    node: NodeNetwork,
    left?: IptablesAdoptedRules,
  ): Generator<readonly [ServicePortKey, Candidate]> {
    const options = { node, host: this.host, largeCluster: this.entries.isLarge };
    for (const [key, entry] of entries) {
      const former = left ? undefined : this.composition.fragment(key);
      let wanted: IptablesServicePortRules | undefined;
      try {
        wanted = entry && this.compile(entry, options, former);
      } catch (error) {
        failed.push({ key, reason: `cannot be compiled: ${errorMessage(error)}` });
        wanted = entry && left?.fragment(entry.name);
        if (!wanted) continue;
      }
      yield [key, { wanted, former }];
    }
  }

  /** Applies candidates and node as a difference to what is in memory. */
  private async commit(candidates: Candidates, node: NodeNetwork): Promise<Outcome> {
    const delta = replaceAll(this.composition, candidates, 'wanted');
    const frame = node === this.node ? this.frame : this.frameFor(node, this.host);
    const change = baseRulesChange(this.frame, frame);
    this.node = node;
    this.frame = frame;
    const script = changeScript(delta, this.composition, frame, this.chainsPerCommit, change);
    try {
      const ofServices = change.chains.length === 0 && change.tails.length === 0;
      const written = await this.send(script, ofServices ? delta : undefined);
      this.tally.changed(delta);
      return { written, failed: [] };
    } catch (error) {
      if (!(error instanceof RestoreRefusedError)) throw error;
      this.logger.warn(
        { family: this.family, reason: error.message },
        'restore refused; reading the tables back',
      );
      return this.reconcile(candidates);
    }
  }

  /** Reads the tables back and applies what separates them from the composition, without the candidates that are refused. */
  private async reconcile(
    candidates: Candidates,
    { left, present, signal }: ReconcileOptions = {},
  ): Promise<Outcome> {
    const failed: ServiceFailure[] = [];
    let pending: Map<ServicePortKey, Candidate> | undefined;
    let first: SavedTables | undefined;
    for (let rewriteShared = false; ; present = undefined) {
      const { saved, epoch } = present ?? (await this.present(signal));
      signal?.throwIfAborted();
      first ??= saved;
      const { chainsPerCommit, isServiceChain } = this;
      const image = new DesiredTables(this.composition, this.frame, this.tally.counting(this.composition));
      const options = { chainsPerCommit, rewriteShared, isServiceChain };
      const { repair, removal } = tablesDifference(image, saved, options);
      try {
        const written = (await this.send(repair)) + (await this.remove(removal));
        this.soundEpoch = epoch;
        const lost = left ? lostUdpFrontends(first, image, this.dispatch) : [];
        return { written, failed, ...(lost.length > 0 && { lost }) };
      } catch (error) {
        if (!(error instanceof RestoreRefusedError)) throw error;
        this.logger.warn(
          { family: this.family, reason: error.message },
          'restore refused; looking for the cause',
        );
        pending ??= new Map(candidates);
        if (left) this.rememberLeft(pending, left);
        const culprits = blame(error, repair, pending);
        if (culprits.size === 0 && pending.size > 0) return this.halve(pending, failed);
        if (culprits.size === 0 && rewriteShared) throw error;
        if (culprits.size === 0) rewriteShared = true;
        for (const [key, reason] of culprits) {
          failed.push({ key, reason });
          this.composition.replace(key, pending.get(key)!.former);
          pending.delete(key);
        }
      }
    }
  }

  /** What candidates had before this process: those that are refused keep it. */
  private rememberLeft(pending: Map<ServicePortKey, Candidate>, left: IptablesAdoptedRules): void {
    for (const [key, { wanted, former }] of pending)
      if (wanted && !former) pending.set(key, { wanted, former: left.fragment(this.entries.get(key)!.name) });
  }

  /** Takes all candidates back, repairs the tables without them, and tries them again in ever smaller groups. */
  private async halve(pending: Candidates, failed: readonly ServiceFailure[]): Promise<Outcome> {
    replaceAll(this.composition, pending, 'former');
    const base = await this.reconcile(new Map());
    const rest = await this.tryGroups([...pending]);
    return { written: base.written + rest.written, failed: [...failed, ...rest.failed] };
  }

  private async tryGroups(group: readonly (readonly [ServicePortKey, Candidate])[]): Promise<Outcome> {
    const delta = replaceAll(this.composition, group, 'wanted');
    const script = changeScript(delta, this.composition, this.frame, this.chainsPerCommit);
    try {
      const written = await this.send(script, delta);
      this.tally.changed(delta);
      return { written, failed: [] };
    } catch (error) {
      if (!(error instanceof RestoreRefusedError)) throw error;
      const [{ line = 0 } = {}] = error.failures;
      const commit = script.find([line]).get(line)?.commit;
      replaceAll(this.composition, group, 'former');
      // Commits before the refused one stand.
      if (commit !== 0) await this.reconcile(new Map());
      if (group.length === 1) return { written: 0, failed: [{ key: group[0]![0], reason: error.message }] };
      const middle = group.length >> 1;
      const one = await this.tryGroups(group.slice(0, middle));
      const other = await this.tryGroups(group.slice(middle));
      return { written: one.written + other.written, failed: [...one.failed, ...other.failed] };
    }
  }

  private async present(signal?: AbortSignal): Promise<TablesAsRead> {
    const epoch = await this.watch.epoch();
    return { epoch, saved: await this.commands.save(this.family, signal) };
  }

  /**
   * Returns how many chains and rules were written: none where there is nothing to write, and then no tool is started.
   * @param delta all of what the script changes, where that is known
   */
  private async send(script: RestoreScript, delta?: IptablesChange): Promise<number> {
    const text = script.text();
    const input = text.begun();
    if (!input) return 0;
    try {
      const { lockWaitSeconds } = await this.watch.ours(
        () => this.commands.restore(this.family, input),
        () => ({ commits: text.commits, entriesGained: delta?.tableGrowth }),
      );
      this.tally.applied(text);
      this.observer.restored(this.family, { written: text.written, lockWaitSeconds });
      if (lockWaitSeconds !== undefined && lockWaitSeconds > 1)
        this.logger.warn({ family: this.family, seconds: lockWaitSeconds }, 'waited for the xtables lock');
      return text.written;
    } catch (error) {
      this.soundEpoch = undefined;
      this.observer.restoreFailed(this.family);
      throw error;
    }
  }

  /** Removes leftovers. What others still hold on to is found again by the next verification. */
  private async remove(removal: RestoreScript): Promise<number> {
    try {
      const written = await this.send(removal);
      this.held = undefined;
      return written;
    } catch (error) {
      if (!(error instanceof RestoreRefusedError)) throw error;
      const { message: reason } = error;
      if (reason !== this.held)
        this.logger.warn({ family: this.family, reason }, 'could not remove unused chains; will try again');
      this.held = reason;
      return 0;
    }
  }

  private result(
    { failed: refused, ...outcome }: Outcome,
    failed: readonly ServiceFailure[],
    keys: Iterable<ServicePortKey>,
  ): ApplyResult {
    for (const rules of this.tally.tables(this.composition, this.frame))
      this.observer.rulesCounted(this.family, rules);
    // Mostly there are none, and at a start very many keys.
    const among = this.composition.isContested ? [...keys] : [];
    const conflicts: readonly FrontendConflict[] = among.flatMap((key) => this.composition.conflictsOf(key));
    return { ...outcome, failed: [...failed, ...refused], conflicts };
  }
}
