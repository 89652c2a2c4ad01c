import type {
  ApplyResult,
  Backend,
  FrontendClash,
  ServiceFailure,
  VerifyResult,
} from '../../application/ports/backend.js';
import type { Logger } from '../../application/ports/logger.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { isServiceChain as isChainOfService } from '../../domain/iptables/chain-names.js';
import { compileIptables } from '../../domain/iptables/compile.js';
import { IptablesComposition } from '../../domain/iptables/composition.js';
import { IptablesDelta } from '../../domain/iptables/delta.js';
import { iptablesFrame } from '../../domain/iptables/frame.js';
import { frameDelta } from '../../domain/iptables/frame-delta.js';
import { IptablesImage, type OwnedChains } from '../../domain/iptables/image.js';
import { lostUdpFrontends } from '../../domain/iptables/lost-frontends.js';
import { compilesAlike, type IptablesHost } from '../../domain/iptables/options.js';
import type { SavedTables } from '../../domain/iptables/saved-tables.js';
import type { IptablesFragment, IptablesFrame } from '../../domain/iptables/table.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { blame, type Candidate, type Candidates } from './candidates.js';
import { changeScript } from './change-script.js';
import { cleanUpScripts, IPTABLES_BELONGINGS } from './clean-up-scripts.js';
import { tablesDifference } from './difference.js';
import { RestoreRefusedError } from './errors.js';
import { Intake } from './intake.js';
import type { IptablesCommands } from './iptables-commands.js';
import { SILENT_OBSERVER, type IptablesObserver } from './iptables-observer.js';
import { NotedEntries } from './noted-entries.js';
import { Preparation, type HostReading, type TablesAsRead } from './preparation.js';
import { PresentRules } from './present-rules.js';
import type { RestoreScript } from './restore-script.js';
import { RuleTally } from './rule-tally.js';
import type { RulesWatch } from './rules-watch.js';
import { seemsSound } from './seems-sound.js';

export interface IptablesBackendOptions {
  readonly observer?: IptablesObserver;
  readonly compile?: typeof compileIptables;
  readonly frame?: (node: NodeNetwork, host: IptablesHost) => IptablesFrame;
  /** What removes everything that is written here. */
  readonly cleanUp?: (saved: SavedTables, chainsPerCommit: number) => readonly RestoreScript[];
  /** Which chains of table nat go when no service port has them. Missing: those of mode iptables. */
  readonly isServiceChain?: (name: string) => boolean;
}

interface Outcome extends Pick<ApplyResult, 'lost'> {
  readonly written: number;
  readonly failed: readonly ServiceFailure[];
}

interface ReconcileOptions {
  /** Where the candidates come from at a first start. */
  readonly intake?: Intake;
  /** What an earlier process left: those that are refused keep it. */
  readonly left?: PresentRules;
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
  private composition = new IptablesComposition();
  private entries = new NotedEntries();
  private preparation: Preparation | undefined;
  private node!: NodeNetwork;
  private host!: IptablesHost;
  private frame!: IptablesFrame;
  private chainsPerCommit = Infinity;
  private readonly tally = new RuleTally();
  /** The epoch in which the tables were last found equal to the composition, or made so. */
  private soundEpoch: number | undefined;
  private readonly observer: IptablesObserver;
  private readonly compile: NonNullable<IptablesBackendOptions['compile']>;
  private readonly frameFor: NonNullable<IptablesBackendOptions['frame']>;
  private readonly cleanUp: NonNullable<IptablesBackendOptions['cleanUp']>;
  private readonly isServiceChain: NonNullable<IptablesBackendOptions['isServiceChain']>;

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
      frame = iptablesFrame,
      cleanUp = (saved, limit) => cleanUpScripts(saved, IPTABLES_BELONGINGS, undefined, limit),
      isServiceChain = isChainOfService,
    }: IptablesBackendOptions = {},
  ) {
    this.observer = observer;
    this.compile = compile;
    this.frameFor = frame;
    this.cleanUp = cleanUp;
    this.isServiceChain = isServiceChain;
  }

  prepare(changes: readonly ForwardingChange[], node: NodeNetwork): Promise<void> {
    this.preparation ??= new Preparation(this.readAll(), this.compile, this.isServiceChain);
    this.preparation.take(changes, node);
    return Promise.resolve();
  }

  async start(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<ApplyResult> {
    this.tally.begin();
    this.composition = new IptablesComposition();
    this.entries = new NotedEntries();
    const { preparation } = this;
    this.preparation = undefined;
    const reading = this.readAll(preparation);
    await this.entries.noteMeanwhile(entries, reading);
    const { present, host, chainsPerCommit } = await reading;
    this.host = host;
    this.chainsPerCommit = chainsPerCommit;
    this.node = node;
    this.frame = this.frameFor(node, host);
    const left = new PresentRules(present.saved, this.frame);
    const failed: ServiceFailure[] = [];
    preparation?.keepFor({ node, largeCluster: this.entries.isLarge }, present.saved);
    if (preparation) this.composition = preparation.composition;
    const compiled = this.compileAll(this.entries.all(), failed, node, left, preparation);
    const intake = new Intake(compiled, this.composition, preparation);
    const outcome = await this.reconcile(intake.candidates, { intake, left, present });
    return this.result(outcome, failed, intake.candidates.keys());
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

  async verify(how: 'glance' | 'inspection', signal?: AbortSignal): Promise<VerifyResult> {
    const epoch = await this.watch.epoch();
    const untouched =
      epoch === undefined
        ? how === 'glance' && (await seemsSound(this.frame, this.family, this.commands))
        : epoch === this.soundEpoch;
    if (untouched) return { compared: false, written: 0, failed: [], conflicts: [] };
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

  /** What was read ahead counts as long as nobody touches the tables. */
  private async readAll(preparation?: Preparation): Promise<HostReading> {
    const ahead = await preparation?.reading;
    if (!ahead) {
      const reading = [this.present(), this.readHost(), this.commands.chainsPerCommit()] as const;
      const [present, host, chainsPerCommit] = await Promise.all(reading);
      return { present, host, chainsPerCommit };
    }
    const epoch = await this.watch.epoch();
    const stands = epoch !== undefined && epoch === ahead.present.epoch;
    return stands ? ahead : { ...ahead, present: await this.present() };
  }

  /** What cannot be compiled keeps what it has, or what an earlier process left. */
  private *compileAll(
    entries: Iterable<readonly [ServicePortKey, ForwardingEntry | undefined]>,
    failed: ServiceFailure[],
    node: NodeNetwork,
    left?: PresentRules,
    preparation?: Preparation,
  ): Generator<readonly [ServicePortKey, Candidate]> {
    const options = { node, host: this.host, largeCluster: this.entries.isLarge };
    for (const [key, entry] of entries) {
      const former = left ? undefined : this.composition.fragment(key);
      let wanted: IptablesFragment | undefined;
      try {
        wanted = entry && (preparation?.fragment(entry) ?? this.compile(entry, options, former));
      } catch (error) {
        failed.push({ key, reason: `cannot be compiled: ${messageOf(error)}` });
        wanted = entry && left?.fragment(entry.name);
        if (!wanted) continue;
      }
      yield [key, { wanted, former }];
    }
  }

  /** Applies candidates and node as a difference to what is in memory. */
  private async commit(candidates: Candidates, node: NodeNetwork): Promise<Outcome> {
    const delta = this.replaceAll(candidates, 'wanted');
    const frame = node === this.node ? this.frame : this.frameFor(node, this.host);
    const change = frameDelta(this.frame, frame);
    this.node = node;
    this.frame = frame;
    const script = changeScript(delta, this.composition, frame, this.chainsPerCommit, change);
    try {
      const written = await this.send(script);
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
    { intake, left, present, signal }: ReconcileOptions = {},
  ): Promise<Outcome> {
    const failed: ServiceFailure[] = [];
    let pending: Map<ServicePortKey, Candidate> | undefined;
    let first: SavedTables | undefined;
    let source: OwnedChains = intake ?? this.composition;
    for (let rewriteShared = false; ; present = undefined) {
      const { saved, epoch } = present ?? (await this.present(signal));
      signal?.throwIfAborted();
      first ??= saved;
      const { chainsPerCommit, isServiceChain } = this;
      const image = new IptablesImage(this.composition, this.frame, this.tally.counting(source));
      const options = { chainsPerCommit, rewriteShared, isServiceChain };
      const { repair, removal } = tablesDifference(image, saved, options);
      try {
        const written = (await this.send(repair)) + (await this.remove(removal));
        this.soundEpoch = epoch;
        const lost = intake ? lostUdpFrontends(first, image) : [];
        return { written, failed, ...(lost.length > 0 && { lost }) };
      } catch (error) {
        if (!(error instanceof RestoreRefusedError)) throw error;
        this.logger.warn(
          { family: this.family, reason: error.message },
          'restore refused; looking for the cause',
        );
        intake?.finish();
        pending ??= new Map(candidates);
        if (left) this.rememberLeft(pending, left);
        const culprits = blame(error, repair, pending);
        if (culprits.size === 0 && pending.size > 0) return this.halve(pending, failed);
        if (culprits.size === 0 && rewriteShared) throw error;
        if (culprits.size === 0) rewriteShared = true;
        // It has taken everything in, and joins what is to be compared now.
        source = this.composition;
        for (const [key, reason] of culprits) {
          failed.push({ key, reason });
          this.composition.replace(key, pending.get(key)!.former);
          pending.delete(key);
        }
      }
    }
  }

  /** What candidates had before this process: those that are refused keep it. */
  private rememberLeft(pending: Map<ServicePortKey, Candidate>, left: PresentRules): void {
    for (const [key, { wanted, former }] of pending)
      if (wanted && !former) pending.set(key, { wanted, former: left.fragment(this.entries.get(key)!.name) });
  }

  /** Takes all candidates back, repairs the tables without them, and tries them again in ever smaller groups. */
  private async halve(pending: Candidates, failed: readonly ServiceFailure[]): Promise<Outcome> {
    this.replaceAll(pending, 'former');
    const base = await this.reconcile(new Map());
    const rest = await this.tryGroups([...pending]);
    return { written: base.written + rest.written, failed: [...failed, ...rest.failed] };
  }

  private async tryGroups(group: readonly (readonly [ServicePortKey, Candidate])[]): Promise<Outcome> {
    const delta = this.replaceAll(group, 'wanted');
    const script = changeScript(delta, this.composition, this.frame, this.chainsPerCommit);
    try {
      const written = await this.send(script);
      this.tally.changed(delta);
      return { written, failed: [] };
    } catch (error) {
      if (!(error instanceof RestoreRefusedError)) throw error;
      const [{ line = 0 } = {}] = error.failures;
      const commit = script.find([line]).get(line)?.commit;
      this.replaceAll(group, 'former');
      // Commits before the refused one stand.
      if (commit !== 0) await this.reconcile(new Map());
      if (group.length === 1) return { written: 0, failed: [{ key: group[0]![0], reason: error.message }] };
      const middle = group.length >> 1;
      const one = await this.tryGroups(group.slice(0, middle));
      const other = await this.tryGroups(group.slice(middle));
      return { written: one.written + other.written, failed: [...one.failed, ...other.failed] };
    }
  }

  private replaceAll(
    candidates: Iterable<readonly [ServicePortKey, Candidate]>,
    which: keyof Candidate,
  ): IptablesDelta {
    const delta = new IptablesDelta();
    for (const [key, candidate] of candidates) this.composition.replace(key, candidate[which], delta);
    return delta;
  }

  private async present(signal?: AbortSignal): Promise<TablesAsRead> {
    const epoch = await this.watch.epoch();
    return { epoch, saved: await this.commands.save(this.family, signal) };
  }

  /** Returns how many chains and rules were written: none where there is nothing to write, and then no tool is started. */
  private async send(script: RestoreScript): Promise<number> {
    const text = script.text();
    const pieces = text[Symbol.iterator]();
    let first = pieces.next();
    while (first.done !== true && first.value === '') first = pieces.next();
    if (first.done === true) return 0;
    try {
      const { lockWaitSeconds } = await this.watch.ours(
        () => this.commands.restore(this.family, startingWith(first.value, pieces)),
        () => text.commits,
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
      return await this.send(removal);
    } catch (error) {
      if (!(error instanceof RestoreRefusedError)) throw error;
      this.logger.warn(
        { family: this.family, reason: error.message },
        'could not remove unused chains; will try again',
      );
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
    const conflicts: readonly FrontendClash[] = among.flatMap((key) => this.composition.conflictsOf(key));
    return { ...outcome, failed: [...failed, ...refused], conflicts };
  }
}

function* startingWith(first: string, rest: Iterable<string>): Generator<string> {
  yield first;
  yield* rest;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
