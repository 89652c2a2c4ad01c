import { errorMessage } from '../../application/error-message.js';
import type {
  ApplyResult,
  Backend,
  ServiceFailure,
  ServiceNote,
  StartOptions,
  VerificationKind,
  VerifyResult,
} from '../../application/ports/backend.js';
import type { Clock, Timer } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { IptablesServicePortRules } from '../../domain/iptables/table.js';
import { compileIpvs } from '../../domain/ipvs/compile.js';
import { IpvsDesiredState } from '../../domain/ipvs/desired-state.js';
import type { IpvsServicePortRules } from '../../domain/ipvs/service-port-rules.js';
import { compilesAlike, type IpvsOptions } from '../../domain/ipvs/options.js';
import { IpvsChange } from '../../domain/ipvs/ipvs-change.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { Cidr } from '../../domain/net/cidr.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { IpSets } from '../ipset/ip-sets.js';
import { AddressTable } from './tables/address-table.js';
import { cleanUpIpvs } from './clean-up/clean-up-ipvs.js';
import { IpvsRules, type RulesBackendFactory } from './ipvs-rules.js';
import { KernelProgrammer, type ProgramOptions, type WriteRules } from './kernel-programmer.js';
import { ServerTable, SWEEP_PERIOD } from './tables/server-table.js';
import type { ServiceAddresses } from './kernel/service-addresses.js';
import { SetTable } from './tables/set-table.js';
import type { VirtualServers } from './kernel/virtual-servers.js';

const NO_RULES: IptablesServicePortRules = { chains: [], entries: [] };

/** The ways into the kernel. They are shared by both families, and closed by whoever opened them. */
export interface IpvsKernel {
  readonly servers: VirtualServers;
  readonly addresses: ServiceAddresses;
  readonly sets: IpSets;
  /** Makes the backend that writes the rules of one family. */
  readonly rules: RulesBackendFactory;
  /** Whether the rules of mode iptables serve at present, so that ours may only take their place when all else is there. */
  readonly servedByIptables: () => Promise<boolean>;
}

export interface IpvsBackendOptions {
  /** The scheduler of Services that do not ask for another one. */
  readonly scheduler: string;
  /** Virtual servers of others at these addresses are left alone. */
  readonly excludeCIDRs: readonly Cidr[];
  readonly compile?: (entry: ForwardingEntry, options: IpvsOptions) => IpvsServicePortRules;
  /** A moment for the kernel; a tenth of a second when missing. */
  readonly pause?: () => Promise<unknown>;
}

/**
 * Programs one family of mode ipvs: virtual servers, the addresses of services on their device, the sets, and the rules
 * that match against them.
 *
 * What is in the kernel is known in memory, so a change costs what it touches. Where the kernel refuses something, that
 * part is read back and tried again; what is refused then is blamed on its service port, and the others are programmed.
 * While real servers drain, a timer looks after them. Calls and the timer take turns.
 */
export class IpvsBackend implements Backend {
  readonly mode = 'ipvs';
  private composition = new IpvsDesiredState();
  private readonly entries = new Map<ServicePortKey, ForwardingEntry>();
  private readonly schedulers = new Set<string>();
  private node!: NodeNetwork;
  private readonly servers: ServerTable;
  private readonly sets: SetTable;
  private readonly programmer: KernelProgrammer;
  private readonly rules: IpvsRules;
  private readonly compile: NonNullable<IpvsBackendOptions['compile']>;
  private turn: Promise<unknown> = Promise.resolve();
  private timer: Timer | undefined;
  private closed = false;

  constructor(
    readonly family: IpFamily,
    private readonly kernel: IpvsKernel,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly options: IpvsBackendOptions,
  ) {
    this.compile = options.compile ?? compileIpvs;
    this.servers = new ServerTable(family, kernel.servers, options.excludeCIDRs, clock, logger);
    this.sets = new SetTable(family, kernel.sets);
    const addresses = new AddressTable(family, kernel.addresses);
    this.programmer = new KernelProgrammer(family, this.servers, this.sets, addresses, logger);
    this.rules = new IpvsRules(kernel.rules, ({ key }) => this.composition.rulesOf(key) ?? NO_RULES);
  }

  start(
    entries: Iterable<ForwardingEntry>,
    node: NodeNetwork,
    options: StartOptions = {},
  ): Promise<ApplyResult> {
    return this.inTurn(async () => {
      this.composition = new IpvsDesiredState();
      this.entries.clear();
      this.node = node;
      for (const entry of entries) this.entries.set(entry.key, entry);
      const failed = await this.compose(this.entries, node, new IpvsChange());
      const rulesLast = await this.kernel.servedByIptables();
      const made = await this.programmer.read();
      const served = this.servers.servingUdp();
      this.programmer.keepUnexplained(this.composition, options.keepUnexplained === true);
      const withRules = [...this.entries.values()].filter(
        ({ key }) => (this.composition.rulesOf(key)?.entries.length ?? 0) > 0,
      );
      const writeRules: WriteRules = (filled, part) =>
        part === 'additions'
          ? this.rules.start(withRules, node, filled, options)
          : this.rules.apply([], node, filled);
      const outcome = await this.program(this.programmer.everything(this.composition), writeRules, {
        rulesLast,
      });
      const written = made + outcome.written;
      const result = this.result({ ...outcome, written }, failed, this.entries.keys());
      const lost = served.flatMap(([key, frontend]) => (this.servers.has(key) ? [] : frontend));
      return lost.length > 0 ? { ...result, lost } : result;
    });
  }

  apply(changes: readonly ForwardingChange[], node: NodeNetwork): Promise<ApplyResult> {
    return this.inTurn(async () => {
      for (const { key, entry } of changes) {
        if (entry) this.entries.set(key, entry);
        else this.entries.delete(key);
      }
      const changed = new Map(changes.map(({ key, entry }) => [key, entry]));
      const affected = compilesAlike(this.node, node) ? changed : new Map([...this.entries, ...changed]);
      this.node = node;
      const touched = new IpvsChange();
      const failed = await this.compose(affected, node, touched);
      const outcome = await this.program(touched, this.changedRules(touched));
      return this.result(outcome, failed, affected.keys());
    });
  }

  /** What happens to virtual servers, sets and addresses leaves no sign, so a glance sees the rules only. */
  verify(how: VerificationKind, signal?: AbortSignal): Promise<VerifyResult> {
    return this.inTurn(async () => {
      signal?.throwIfAborted();
      let written = 0;
      let failed: readonly ServiceFailure[] = [];
      if (how === 'full' || this.programmer.hasLeftover) {
        const made = how === 'full' ? await this.programmer.read(signal) : 0;
        const touched = how === 'full' ? this.programmer.everything(this.composition) : new IpvsChange();
        const outcome = await this.program(touched, this.changedRules(touched));
        written = made + outcome.written;
        failed = outcome.failed;
      }
      const rules = await this.rules.verify(how, signal);
      return {
        compared: how === 'full' || rules.compared,
        written: written + rules.written,
        failed: [...failed, ...rules.failed],
        conflicts: [],
      };
    });
  }

  cleanup(): Promise<void> {
    const { family, servers, sets, rules, kernel, options } = this;
    const { addresses } = kernel;
    return this.inTurn(() =>
      cleanUpIpvs({ family, servers, sets, rules, addresses, pause: options.pause }, this.logger),
    );
  }

  /** Virtual servers and addresses end with the process that made them only through `cleanup`; what drains goes on. */
  async close(): Promise<void> {
    this.closed = true;
    this.timer?.cancel();
    await this.turn;
    await this.rules.close();
  }

  /** Compiles into the composition; what cannot be compiled keeps what it has. */
  private async compose(
    entries: Iterable<readonly [ServicePortKey, ForwardingEntry | undefined]>,
    node: NodeNetwork,
    touched: IpvsChange,
  ): Promise<ServiceFailure[]> {
    const failed: ServiceFailure[] = [];
    const { scheduler } = this.options;
    for (const [key, entry] of entries) {
      await this.learnScheduler(entry?.scheduler);
      const options = { node, scheduler, hasScheduler: (name: string) => this.schedulers.has(name) };
      try {
        this.composition.replace(key, entry && this.compile(entry, options), touched);
      } catch (error) {
        failed.push({ key, reason: `cannot be compiled: ${errorMessage(error)}` });
      }
    }
    return failed;
  }

  /** One that is missing is asked for again the next time: its module may have been installed. */
  private async learnScheduler(name: string | undefined): Promise<void> {
    if (name === undefined || this.schedulers.has(name)) return;
    if (await this.kernel.servers.hasScheduler(name)) this.schedulers.add(name);
  }

  private program(
    touched: IpvsChange,
    writeRules: WriteRules,
    options?: ProgramOptions,
  ): Promise<Pick<ApplyResult, 'written' | 'failed'>> {
    return this.programmer.program(this.composition, touched, writeRules, options);
  }

  private changedRules({ rules }: IpvsChange): WriteRules {
    return (filled, part) => {
      const owners = [...rules].filter((key) => this.entries.has(key) === (part === 'additions'));
      const changes = owners.map((key) => ({ key, entry: this.entries.get(key) }));
      return this.rules.apply(changes, this.node, filled);
    };
  }

  private result(
    { written, failed }: Pick<ApplyResult, 'written' | 'failed'>,
    notCompiled: readonly ServiceFailure[],
    keys: Iterable<ServicePortKey>,
  ): ApplyResult {
    const all = [...keys];
    return {
      written,
      failed: [...notCompiled, ...failed],
      conflicts: all.flatMap((key) => this.composition.conflictsOf(key)),
      notes: all.flatMap((key) => this.notesOn(key)),
    };
  }

  private notesOn(key: ServicePortKey): readonly ServiceNote[] {
    const wish = this.entries.get(key)?.scheduler;
    if (wish === undefined || this.schedulers.has(wish)) return [];
    return [{ key, note: `this kernel has no IPVS scheduler ${wish}; using ${this.options.scheduler}` }];
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.turn.then(work).finally(() => this.watchDraining());
    this.turn = result.catch(() => undefined);
    return result;
  }

  private watchDraining(): void {
    if (this.closed || this.timer || !this.servers.isDraining) return;
    this.timer = this.clock.after(SWEEP_PERIOD, () => {
      this.timer = undefined;
      this.inTurn(() => this.servers.sweep()).catch((error: unknown) =>
        this.logger.error({ family: this.family, error }, 'cannot see what still drains; will try again'),
      );
    });
  }
}
