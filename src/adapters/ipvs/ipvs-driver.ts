import type { StartOptions, VerifyResult } from '../../application/ports/backend.js';
import type { Clock } from '../../application/ports/clock.js';
import type { DifferenceLines, Driver, ReadOptions, WriteResult } from '../../application/ports/driver.js';
import type { Logger } from '../../application/ports/logger.js';
import type { WriteWatch } from '../../application/ports/write-watch.js';
import type { FrontendAddress } from '../../domain/conntrack/frontend-map.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { compileIpvs } from '../../domain/ipvs/compile.js';
import { IpvsDesiredState } from '../../domain/ipvs/desired-state.js';
import { IpvsChange } from '../../domain/ipvs/ipvs-change.js';
import { compilesAlike, type IpvsOptions } from '../../domain/ipvs/options.js';
import type { IpvsServicePortRules } from '../../domain/ipvs/service-port-rules.js';
import { Unexplained } from '../../domain/ipvs/unexplained.js';
import type { VirtualServerKey } from '../../domain/ipvs/virtual-server.js';
import type { Cidr } from '../../domain/net/cidr.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { IpSets } from '../ipset/ip-sets.js';
import { cleanUpIpvs } from './clean-up/clean-up-ipvs.js';
import { ipvsDifferences } from './ipvs-differences.js';
import { IpvsRules, type RulesBackendFactory } from './ipvs-rules.js';
import type { ServiceAddresses } from './kernel/service-addresses.js';
import type { VirtualServers } from './kernel/virtual-servers.js';
import { OrderedWrite } from './ordered-write.js';
import { AddressTable } from './tables/address-table.js';
import { KernelTables } from './tables/kernel-tables.js';
import { ServerTable } from './tables/server-table.js';
import { SetTable } from './tables/set-table.js';

/** Where mode ipvs writes. Both families share it, and whoever opened it closes it. */
export interface IpvsKernel {
  readonly servers: VirtualServers;
  readonly addresses: ServiceAddresses;
  readonly sets: IpSets;
  /** Makes the backend that writes the iptables rules of one family. */
  readonly rules: RulesBackendFactory;
  /** Whether rules of mode iptables serve at present. If so, ours replace them only when everything else is there. */
  readonly servedByIptables: () => Promise<boolean>;
}

export interface IpvsBackendOptions {
  /** The scheduler of Services that do not ask for another one. */
  readonly scheduler: string;
  /** Virtual servers at these addresses are never deleted. */
  readonly excludeCIDRs: readonly Cidr[];
  readonly compile?: (entry: ForwardingEntry, options: IpvsOptions) => IpvsServicePortRules;
  /** Waits a moment for the kernel; a tenth of a second when missing. */
  readonly pause?: () => Promise<unknown>;
}

/** What was read, apart from what the tables remember themselves. */
interface IpvsActual {
  /** The virtual servers of UDP that have real servers. */
  readonly servingUdp: readonly (readonly [VirtualServerKey, FrontendAddress])[];
}

/** Virtual servers, sets and addresses give no sign of foreign writes. */
const UNWATCHED: WriteWatch = {
  seesEveryWrite: false,
  ours: (write) => write(),
  epoch: () => Promise.resolve(undefined),
};

/**
 * Programs one family of mode ipvs: virtual servers, the addresses of services on their device, IP sets, and the iptables rules
 * that match against these sets. It writes in small steps: when the kernel refuses one, the others still are taken.
 */
export class IpvsDriver implements Driver<IpvsServicePortRules, IpvsChange, IpvsActual> {
  readonly mode = 'ipvs';
  readonly watch = UNWATCHED;
  desired = new IpvsDesiredState();
  private node!: NodeNetwork;
  private keepsUnexplained = false;
  private unexplained = new Unexplained();
  /** What could not be removed; retried with each write. */
  private leftovers = new IpvsChange();
  /** Why, as reported. */
  private leftoverReasons: ReadonlySet<string> = new Set();
  /** Schedulers that Services ask for and the kernel has. */
  private readonly schedulers = new Set<string>();
  private readonly tables: KernelTables;
  private readonly rules: IpvsRules;

  constructor(
    readonly family: IpFamily,
    private readonly kernel: IpvsKernel,
    clock: Clock,
    private readonly logger: Logger,
    private readonly options: IpvsBackendOptions,
  ) {
    this.tables = new KernelTables(
      new ServerTable(family, kernel.servers, options.excludeCIDRs, clock, logger),
      new SetTable(family, kernel.sets),
      new AddressTable(family, kernel.addresses),
    );
    this.rules = new IpvsRules(kernel.rules, ({ key }) => this.desired.iptablesRules(key));
  }

  begin(node: NodeNetwork, options: StartOptions): void {
    this.desired = new IpvsDesiredState();
    this.node = node;
    this.keepsUnexplained = options.keepUnexplained ?? false;
    this.unexplained = new Unexplained();
    this.leftovers = new IpvsChange();
    this.rules.begin(options);
  }

  /** Learns schedulers. Asks again for one that is missing, because its module may have been installed. */
  async prepare(changes: Iterable<ForwardingChange>, node: NodeNetwork): Promise<void> {
    this.node = node;
    const wanted = new Set<string>();
    for (const { entry } of changes) if (entry?.scheduler !== undefined) wanted.add(entry.scheduler);
    for (const name of wanted)
      if (!this.schedulers.has(name) && (await this.kernel.servers.hasScheduler(name)))
        this.schedulers.add(name);
  }

  rulesDependOn(before: NodeNetwork, after: NodeNetwork): boolean {
    return !compilesAlike(before, after);
  }

  compile(entry: ForwardingEntry): IpvsServicePortRules {
    const { scheduler, compile = compileIpvs } = this.options;
    return compile(entry, {
      node: this.node,
      scheduler,
      hasScheduler: (name) => this.schedulers.has(name),
    });
  }

  noteOn({ scheduler }: ForwardingEntry): string | undefined {
    if (scheduler === undefined || this.schedulers.has(scheduler)) return undefined;
    return `this kernel has no IPVS scheduler ${scheduler}; using ${this.options.scheduler}`;
  }

  newChange(): IpvsChange {
    return new IpvsChange();
  }

  commit(change: IpvsChange, node: NodeNetwork): Promise<WriteResult> {
    this.node = node;
    return this.write(change);
  }

  async read({ signal }: ReadOptions = {}): Promise<IpvsActual> {
    await this.tables.read(signal);
    return { servingUdp: this.tables.servers.servingUdp() };
  }

  /** The iptables rules are read as well, by their own backend. */
  async repair(): Promise<WriteResult> {
    const { tables, rules, desired } = this;
    const isStart = !rules.isStarted;
    const setsMade = await tables.prepare();
    if (isStart && this.keepsUnexplained) this.unexplained = tables.unexplained(desired);
    const rulesLast = isStart && (await this.kernel.servedByIptables());
    const { written, failed = [] } = await this.write(tables.changeOfAll(desired), rulesLast);
    if (isStart) return { written: setsMade + written, failed };
    const verified = await rules.verify('full');
    return {
      written: setsMade + written + verified.written,
      failed: [...failed, ...verified.failed],
    };
  }

  async differences(_: IpvsActual, signal?: AbortSignal): Promise<DifferenceLines> {
    const { desired, tables, rules, node, family } = this;
    const adopts = !rules.isStarted && this.keepsUnexplained;
    const unexplained = adopts ? tables.unexplained(desired) : this.unexplained;
    const entries = desired.ownersOfIptablesRules().flatMap((owner) => desired.rules(owner)?.entry ?? []);
    const filled = new Set([...desired.filled, ...unexplained.sets]);
    const ofRules = (await rules.differences(entries, node, filled, signal)) ?? [];
    return joined(ipvsDifferences(desired, tables, unexplained, family), ofRules);
  }

  lost({ servingUdp }: IpvsActual): readonly FrontendAddress[] {
    return servingUdp.flatMap(([key, frontend]) => (this.tables.servers.has(key) ? [] : frontend));
  }

  /** Looks for signs of foreign writes to the rules, and retries what could not be removed. */
  async verifyQuickly(signal?: AbortSignal): Promise<VerifyResult> {
    signal?.throwIfAborted();
    const removed = await this.retryRemovals();
    const verified = await this.rules.verify('quick', signal);
    return {
      compared: verified.compared,
      written: removed.written + verified.written,
      failed: [...(removed.failed ?? []), ...verified.failed],
      conflicts: [],
    };
  }

  /** Whether real servers drain, so that `sweep` must be called from time to time. */
  get isDraining(): boolean {
    return this.tables.servers.isDraining;
  }

  /** Deletes real servers that have drained. */
  async sweep(): Promise<void> {
    await this.tables.servers.sweep();
  }

  cleanup(): Promise<void> {
    const { family, rules, kernel, options } = this;
    const { servers, sets } = this.tables;
    const { addresses } = kernel;
    return cleanUpIpvs({ family, servers, sets, rules, addresses, pause: options.pause }, this.logger);
  }

  close(): Promise<void> {
    return this.rules.close();
  }

  private async write(change: IpvsChange, rulesLast = false): Promise<WriteResult> {
    const { tables, rules, desired, node, unexplained } = this;
    change.add(this.leftovers);
    unexplained.explain(desired, change);
    const write = new OrderedWrite(tables, rules, { desired, node, change, unexplained, rulesLast });
    await write.run();
    this.leftovers = write.leftovers;
    this.reportLeftovers(write.leftoverReasons);
    return { written: write.written, failed: write.failed };
  }

  /** What is remembered may be wrong where a removal was refused, so everything is read first. */
  private async retryRemovals(): Promise<WriteResult> {
    if (this.leftovers.isEmpty) return { written: 0 };
    await this.tables.read();
    return this.write(new IpvsChange());
  }

  private reportLeftovers(reasons: ReadonlySet<string>): void {
    for (const reason of reasons)
      if (!this.leftoverReasons.has(reason))
        this.logger.warn(
          { family: this.family, reason },
          'cannot remove something that is no longer used; will retry',
        );
    this.leftoverReasons = reasons;
  }
}

function* joined(...lists: readonly DifferenceLines[]): DifferenceLines {
  for (const list of lists) yield* list;
}
