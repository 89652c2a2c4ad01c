import { errorMessage } from '../../application/error-message.js';
import {
  RejectedError,
  type Driver,
  type KernelSnapshot,
  type ReadOptions,
  type WriteResult,
} from '../../application/ports/driver.js';
import type { StartOptions } from '../../application/ports/backend.js';
import type { Logger } from '../../application/ports/logger.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { IptablesAdoptedRules } from '../../domain/iptables/adopted-rules.js';
import { iptablesBaseRules } from '../../domain/iptables/base-rules.js';
import { compileIptables } from '../../domain/iptables/compile.js';
import { IptablesDesiredState, DesiredTables, udpFrontends } from '../../domain/iptables/desired-state.js';
import { baseRulesChange, type IptablesChange } from '../../domain/iptables/iptables-change.js';
import {
  ClusterSize,
  compilesAlike,
  type IptablesHost,
  type IptablesOptions,
} from '../../domain/iptables/options.js';
import { savedRules, type SavedTables } from '../../domain/iptables/saved-tables.js';
import {
  type BaseRules,
  type IptablesServicePortRules,
  type TableName,
  OWNED_TABLE,
} from '../../domain/iptables/table.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { changeScript } from './change-script.js';
import { IptablesTemporaryError, type IptablesCommands } from './iptables-commands.js';
import { type IptablesWatch, CanaryWatch } from './iptables-watch.js';
import { cleanUpScripts, IPTABLES_OWNED_CHAINS } from './owned-chains.js';
import { failureOf, otherWay } from './restore-failures.js';
import type { RestoreScript } from './restore-script.js';
import {
  ruleDifferences,
  tablesDifference,
  type DifferenceOptions,
  type TablesDifference,
} from './tables-difference.js';

/** Differences of other modes that write through iptables. Missing fields are as in iptables mode. */
export interface IptablesBackendOptions {
  readonly observer?: IptablesObserver;
  readonly compile?: typeof compileIptables;
  readonly baseRules?: (node: NodeNetwork, host: IptablesHost) => BaseRules;
  /** Removes everything that is written here. */
  readonly cleanUp?: (saved: SavedTables, chainsPerCommit: number) => readonly RestoreScript[];
  /** Which chains of table nat go when no service port has them. */
  readonly isServiceChain?: (name: string) => boolean;
  /** As in DifferenceOptions. */
  readonly retired?: readonly string[];
  /** Deviations of the rules from the request of an entry. */
  readonly warningFor?: (entry: ForwardingEntry) => string | undefined;
}

/** Programs one family's tables filter, nat and mangle through iptables-restore. */
export class IptablesDriver implements Driver<IptablesServicePortRules, IptablesChange> {
  readonly watch: IptablesWatch;
  desired = new IptablesDesiredState();
  private size = new ClusterSize();
  /** As it was when this began. */
  host!: IptablesHost;
  private node!: NodeNetwork;
  private baseRules: BaseRules | undefined;
  private compileOptions!: IptablesOptions;
  private chainsPerCommit = Infinity;
  /** By the present sync. */
  private readonly rulesWritten = new Map<TableName, number>();
  private readonly deletions: PendingDeletions;

  /**
   * @param watch undefined where no cheap sign shows whether another program wrote
   * @param readHost what this host's tools and kernel can do; asked at each start
   */
  constructor(
    private readonly family: IpFamily,
    private readonly commands: IptablesCommands,
    watch: IptablesWatch | undefined,
    private readonly readHost: () => Promise<IptablesHost>,
    private readonly logger: Logger,
    private readonly options: IptablesBackendOptions = {},
  ) {
    this.deletions = new PendingDeletions(family, logger);
    this.watch = new CanaryWatch(watch, family, commands, () => this.baseRules);
  }

  /** From now on the base rules are those for this node. Writes nothing: the next repair does. */
  expect(node: NodeNetwork): void {
    this.node = node;
    const { baseRules = iptablesBaseRules } = this.options;
    this.baseRules = baseRules(node, this.host);
  }

  async prepare(changes: Iterable<ForwardingChange>, node: NodeNetwork, start?: StartOptions): Promise<void> {
    if (start) {
      this.desired = new IptablesDesiredState();
      this.size = new ClusterSize();
      [this.host, this.chainsPerCommit] = await Promise.all([
        this.readHost(),
        this.commands.chainsPerCommit(),
      ]);
      this.expect(node);
    }
    this.rulesWritten.clear();
    for (const { key, entry } of changes) this.size.note(key, entry);
    this.compileOptions = { node, host: this.host, largeCluster: this.size.isLarge };
  }

  rulesDependOn(before: NodeNetwork, after: NodeNetwork): boolean {
    return !compilesAlike(before, after);
  }

  compile(
    entry: ForwardingEntry,
    _former: IptablesServicePortRules | undefined,
    warn: (text: string) => void,
  ): IptablesServicePortRules {
    const { compile = compileIptables, warningFor } = this.options;
    const warning = warningFor?.(entry);
    if (warning !== undefined) warn(warning);
    return compile(entry, this.compileOptions);
  }

  async commit(change: IptablesChange, node: NodeNetwork): Promise<WriteResult> {
    const former = this.baseRules!;
    if (node !== this.node) this.expect(node);
    const baseChange = baseRulesChange(former, this.baseRules!);
    const script = changeScript(change, baseChange, this.desiredTables(), this.chainsPerCommit);
    const ofServices = baseChange.chains.length === 0 && baseChange.tails.length === 0;
    const written = await this.send(script, ofServices ? change : undefined);
    this.reportRules();
    return { written };
  }

  async read({ signal }: ReadOptions = {}): Promise<
    KernelSnapshot<IptablesServicePortRules> & { readonly saved: SavedTables }
  > {
    const saved = await this.commands.save(this.family, signal);
    return {
      saved,
      repair: () => this.repair(saved),
      differences: () => ruleDifferences(this.desiredTables(), saved, this.options.isServiceChain),
      adopted: () => new IptablesAdoptedRules(saved, this.baseRules!, this.desired),
      udpFrontends: () => udpFrontends((chain) => savedRules(saved, 'nat', chain)),
    };
  }

  get pendingDeletes(): readonly string[] | undefined {
    return this.deletions.areLeft ? this.deletions.reasons : undefined;
  }

  /** @param tables what is put right; missing: all */
  async repair(actual: SavedTables, tables?: readonly TableName[]): Promise<WriteResult> {
    const difference = this.difference(actual, { tables });
    try {
      return await this.write(difference);
    } catch (error) {
      const shared = error instanceof RejectedError ? otherWay(error, difference) : undefined;
      if (!shared) throw error;
      this.logger.warn(
        { family: this.family, reason: errorMessage(error), shared },
        'iptables rejected the repair of shared chains; trying the other method',
      );
      return this.write(this.difference(await this.commands.save(this.family), { tables, shared }));
    }
  }

  async cleanup(): Promise<void> {
    const saved = await this.commands.save(this.family);
    const chainsPerCommit = await this.commands.chainsPerCommit();
    const { cleanUp = (tables, limit) => cleanUpScripts(tables, IPTABLES_OWNED_CHAINS, undefined, limit) } =
      this.options;
    const errors: unknown[] = [];
    for (const script of cleanUp(saved, chainsPerCommit)) {
      try {
        await this.send(script);
      } catch (error) {
        this.logger.error({ family: this.family, error }, 'cannot remove all iptables rules');
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, `rules of ${this.family} are left in iptables`);
  }

  close(): Promise<void> {
    this.commands.close();
    return Promise.resolve();
  }

  private desiredTables(): DesiredTables {
    return new DesiredTables(this.desired, this.baseRules!);
  }

  private difference(
    actual: SavedTables,
    how: Pick<DifferenceOptions, 'shared' | 'tables'>,
  ): TablesDifference {
    const { chainsPerCommit, options } = this;
    const { isServiceChain, retired } = options;
    return tablesDifference(this.desiredTables(), actual, {
      chainsPerCommit,
      isServiceChain,
      retired,
      ...how,
    });
  }

  private async write({ repair, removal, held }: TablesDifference): Promise<WriteResult> {
    const repaired = await this.send(repair);
    const removed = await this.remove(removal, held);
    this.reportRules();
    return { written: repaired + removed };
  }

  /**
   * Returns how many chains and rules were written: none where there is nothing to write, and then no tool is started.
   * @param change all of what the script changes, where that is known
   */
  private async send(script: RestoreScript, change?: IptablesChange): Promise<number> {
    if (script.isEmpty()) return 0;
    const { observer = SILENT_OBSERVER } = this.options;
    try {
      const { lockWaitSeconds } = await this.watch.ours(
        () => this.commands.restore(this.family, script),
        (outcome) => ({ ...outcome, entriesGained: change?.tableGrowth }),
      );
      for (const table of COUNTED)
        this.rulesWritten.set(table, (this.rulesWritten.get(table) ?? 0) + script.rules(table));
      observer.restored(this.family, { written: script.written, lockWaitSeconds });
      if (lockWaitSeconds !== undefined && lockWaitSeconds > 1)
        this.logger.warn({ family: this.family, seconds: lockWaitSeconds }, 'waited for the xtables lock');
      return script.written;
    } catch (error) {
      observer.restoreFailed(this.family);
      throw failureOf(error, script);
    }
  }

  /** Removes what is unused. What rules of other programs still use is found again by the next verification. */
  private async remove(removal: RestoreScript, held: TablesDifference['held']): Promise<number> {
    try {
      const written = await this.send(removal);
      this.deletions.found(held);
      return written;
    } catch (error) {
      if (!(error instanceof RejectedError || error instanceof IptablesTemporaryError)) throw error;
      this.deletions.found(held, error.message);
      return 0;
    }
  }

  /** Jumps in built-in chains do not count, as with kube-proxy. */
  private reportRules(): void {
    const { observer = SILENT_OBSERVER } = this.options;
    const { chains, shared } = this.baseRules!;
    for (const table of COUNTED) {
      let owned = this.desired.ruleCount(table);
      for (const chain of chains) if (chain.table === table) owned += chain.rules.length;
      for (const chain of shared) if (chain.table === table) owned += chain.after.length;
      observer.rulesCounted(this.family, { table, owned, written: this.rulesWritten.get(table) ?? 0 });
    }
  }
}

/** The tables of which kube-proxy counts rules. */
const COUNTED: readonly TableName[] = ['filter', 'nat'];

/** Reports of the driver to metrics. Calls are cheap and never throw. */
export interface IptablesObserver {
  /** A restore was applied; `lockWaitSeconds` undefined when that could not be measured. */
  restored(
    family: IpFamily,
    restore: { readonly written: number; readonly lockWaitSeconds: number | undefined },
  ): void;
  /** A restore was refused, or could not be made. */
  restoreFailed(family: IpFamily): void;
  /** After a sync: how many rules of ours the table holds, and how many of them this sync wrote. */
  rulesCounted(
    family: IpFamily,
    rules: { readonly table: string; readonly owned: number; readonly written: number },
  ): void;
}

export const SILENT_OBSERVER: IptablesObserver = { restored() {}, restoreFailed() {}, rulesCounted() {} };

/** The unused chains of a family that could not be removed, as found last. Each reason is logged when it appears. */
class PendingDeletions {
  private current: readonly string[] = [];
  private logged: readonly string[] = [];
  /** Some chains stay, for any reason. */
  areLeft = false;

  constructor(
    private readonly family: IpFamily,
    private readonly logger: Logger,
  ) {}

  /** For people: the rules of other programs that lead to such chains. */
  get reasons(): readonly string[] {
    return this.current;
  }

  /** @param failure why nothing at all could be removed, for the log alone: it may succeed the next time */
  found(held: TablesDifference['held'], failure?: string): void {
    this.areLeft = held.size > 0 || failure !== undefined;
    this.current = Array.from(held).flatMap(([chain, rule]) =>
      rule === undefined
        ? []
        : `chain ${chain} of table ${OWNED_TABLE} is used by the rule of another program \`${rule}'; delete that rule`,
    );
    const reasons = failure === undefined ? this.current : [...this.current, failure];
    for (const reason of reasons)
      if (!this.logged.includes(reason))
        this.logger.warn({ family: this.family, reason }, 'cannot remove unused chains; will retry');
    this.logged = reasons;
  }
}
