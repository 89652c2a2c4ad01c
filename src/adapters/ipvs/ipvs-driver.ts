import { LastingProblem } from '../../application/message-rate.js';
import type { StartOptions } from '../../application/ports/backend.js';
import type { Clock } from '../../application/ports/clock.js';
import type {
  DifferenceLines,
  Driver,
  KernelSnapshot,
  ReadOptions,
  WriteResult,
  WriteWatch,
} from '../../application/ports/driver.js';
import type { Logger } from '../../application/ports/logger.js';
import type { ForwardingEntry, Frontend } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { IpvsAdoptedRules } from '../../domain/ipvs/adopted-rules.js';
import {
  compileIpvs,
  compilesAlike,
  type IpvsOptions,
  schedulersFor,
  type Scheduler,
} from '../../domain/ipvs/compile.js';
import type { SavedTables } from '../../domain/iptables/saved-tables.js';
import { IpvsDesiredState, type IpvsChange } from '../../domain/ipvs/desired-state.js';
import { addLine, createLine } from '../../domain/ipvs/ip-set.js';
import type { IpvsServicePortRules } from '../../domain/ipvs/service-port-rules.js';
import { SERVICE_SETS, setHeader, setName, setOf, withoutSet } from '../../domain/ipvs/service-sets.js';
import { realServerKey, type VirtualServerKey, serverLines } from '../../domain/ipvs/virtual-server.js';
import type { Endpoint } from '../../domain/model/endpoint.js';
import { type Cidr, addressBits } from '../../domain/net/cidr.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import {
  differing,
  type RuleDifference,
  sequenceDifference,
} from '../../domain/reconcile/rule-difference.js';
import type { IpSets } from '../ipset/ip-sets.js';
import { cleanUpIpvs } from './clean-up-ipvs.js';
import { type ServiceAddresses, type VirtualServers, SERVICE_DEVICE } from './ipvs-kernel.js';
import { IpvsRules, type RulesDriverFactory } from './ipvs-rules.js';
import { KernelTables, SetTable } from './kernel-tables.js';
import { OrderedWrite, type RulesWrite, Remains } from './ordered-write.js';
import { ServerTable, SWEEP_PERIOD } from './server-table.js';

/** Where IPVS mode writes. Both families share it, and its opener closes it. */
export interface IpvsKernel {
  readonly servers: VirtualServers;
  readonly addresses: ServiceAddresses;
  readonly sets: IpSets;
  readonly rules: RulesDriverFactory;
  /** Whether rules of iptables mode serve at present. If so, ours replace them only when everything else is there. */
  readonly servedByIptables: () => Promise<boolean>;
}

export interface IpvsDriverOptions {
  /** The scheduler of Services that request no other one. */
  readonly scheduler: string;
  /** Virtual servers at these addresses are never deleted. */
  readonly excludeCIDRs: readonly Cidr[];
  readonly compile?: (entry: ForwardingEntry, options: IpvsOptions) => IpvsServicePortRules;
  /** Waits a moment for the kernel; a tenth of a second when missing. */
  readonly pause?: () => Promise<unknown>;
}

/**
 * Programs one family of IPVS mode: virtual servers, the addresses of services on their device, IP sets, and the iptables rules
 * that match against these sets. It writes in small steps: when the kernel rejects one, the others still are taken; only the
 * rules are refused as a whole. Of what is in the kernel only the rules give signs of foreign writes.
 */
export class IpvsDriver implements Driver<IpvsServicePortRules, IpvsChange> {
  readonly watch: WriteWatch;
  desired = new IpvsDesiredState();
  private node!: NodeNetwork;
  /** Nothing was written since `begin`. */
  private isStart = true;
  /** Why the last repair could not remove something that no service port is known to have had. */
  private failedReasons: ReadonlySet<string> = new Set();
  private remains: Remains;
  /** When real servers that drain are looked at next. */
  private nextSweep = 0;
  private readonly sweepProblem = new LastingProblem();
  /** Requested schedulers that the kernel has. */
  private readonly schedulers = new Set<string>();
  private readonly tables: KernelTables;
  private readonly rules: IpvsRules;

  constructor(
    private readonly family: IpFamily,
    private readonly kernel: IpvsKernel,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly options: IpvsDriverOptions,
  ) {
    this.tables = new KernelTables(
      family,
      new ServerTable(family, kernel.servers, options.excludeCIDRs, clock, logger),
      new SetTable(family, kernel.sets),
      kernel.addresses,
    );
    this.remains = new Remains(this.tables, this.desired);
    this.rules = new IpvsRules(kernel.rules);
    this.watch = { seesEveryWrite: false, epoch: () => this.rules.driver.watch.epoch() };
  }

  /** Learns schedulers. Tries one that is missing again, because its module may have been installed. */
  async prepare(changes: Iterable<ForwardingChange>, node: NodeNetwork, start?: StartOptions): Promise<void> {
    this.node = node;
    if (start) {
      this.desired = new IpvsDesiredState();
      this.remains = new Remains(this.tables, this.desired);
      this.isStart = true;
    }
    await this.rules.driver.prepare([], node, start);
    const wanted = new Set<string>();
    for (const { entry } of changes)
      for (const { scheduler } of entry ? this.schedulersFor(entry) : []) wanted.add(scheduler);
    for (const name of wanted)
      if (!this.schedulers.has(name) && (await this.kernel.servers.hasScheduler(name)))
        this.schedulers.add(name);
  }

  rulesDependOn(before: NodeNetwork, after: NodeNetwork): boolean {
    return !compilesAlike(before, after);
  }

  compile(
    entry: ForwardingEntry,
    _former: IpvsServicePortRules | undefined,
    warn: (text: string) => void,
  ): IpvsServicePortRules {
    const { scheduler: usual, compile = compileIpvs } = this.options;
    const hasScheduler = (name: string) => this.schedulers.has(name);
    const [first, ...others] = this.schedulersFor(entry).map(({ scheduler }) => scheduler);
    if (first !== undefined && !hasScheduler(first))
      warn(`this kernel has no IPVS scheduler ${first}; using ${others.find(hasScheduler) ?? usual}`);
    return compile(entry, { node: this.node, scheduler: usual, hasScheduler });
  }

  private schedulersFor(entry: ForwardingEntry): readonly Scheduler[] {
    return schedulersFor(entry, this.options.scheduler);
  }

  get pendingDeletes(): readonly string[] | undefined {
    const ofRules = this.rules.driver.pendingDeletes;
    const arePending = this.failedReasons.size > 0 || ofRules !== undefined || !this.remains.areNone;
    return arePending ? [...this.failedReasons, ...(ofRules ?? [])] : undefined;
  }

  commit(change: IpvsChange, node: NodeNetwork): Promise<WriteResult> {
    this.node = node;
    this.remains.addTo(change);
    return this.write(change, this.rules.changeOf(this.desired, change.rules, node));
  }

  async read({ signal }: ReadOptions = {}): Promise<KernelSnapshot<IpvsServicePortRules>> {
    const { tables, desired, rules } = this;
    await tables.read(signal);
    const servers = tables.servers.removable();
    const addresses = tables.addresses.all();
    const members = tables.sets.members.all();
    const { saved } = await rules.driver.read({ signal });
    return {
      repair: () => this.repair(saved),
      differences: () => this.differences(saved),
      adopted: () => new IpvsAdoptedRules({ servers, addresses, members, rules: saved }, desired),
      udpFrontends: () =>
        servers
          .filter(({ server, endpoints }) => server.protocol === 'UDP' && endpoints.length > 0)
          .map(({ server: { address, port } }) => ({ address, port })),
    };
  }

  private async repair(saved: SavedTables): Promise<WriteResult> {
    const { tables, desired, node } = this;
    const setsMade = await tables.prepare();
    const rulesLast = this.isStart && (await this.kernel.servedByIptables());
    const rules = this.rules.repairOf(desired, saved, node);
    const { written, failed, failedDeletes } = await this.write(
      tables.changeOfAll(desired),
      rules,
      rulesLast,
    );
    this.isStart = false;
    for (const reason of failedDeletes)
      if (!this.failedReasons.has(reason))
        this.logger.warn(
          { family: this.family, reason },
          'cannot remove unused IP sets, servers or addresses; will retry',
        );
    this.failedReasons = failedDeletes;
    return { written: setsMade + written, failed };
  }

  private *differences(saved: SavedTables): DifferenceLines {
    const { desired, tables, rules, node, family } = this;
    yield* ipvsDifferences(desired, tables, family);
    yield* rules.differences(desired, saved, node);
  }

  /** Deletes real servers that have drained; checks periodically. */
  async removeUnused(): Promise<void> {
    const now = this.clock.steady();
    if (now < this.nextSweep) return;
    this.nextSweep = now + SWEEP_PERIOD;
    try {
      await this.tables.servers.sweep();
      this.sweepProblem.end();
    } catch (error) {
      this.logger[this.sweepProblem.level(error, 'warn')](
        { family: this.family, error },
        'cannot list the real servers that drain; will retry',
      );
    }
  }

  /** As `ConnectionTable`, of this family. */
  giveUp(endpoint: Pick<Endpoint, 'address' | 'port'>, frontends: readonly Frontend[]): Promise<void> {
    const real = realServerKey(endpoint);
    const isWanted = (server: VirtualServerKey): boolean =>
      this.desired.server(server)?.endpoints.some((one) => realServerKey(one) === real) ?? false;
    return this.tables.servers.giveUp(endpoint, frontends, isWanted);
  }

  cleanup(): Promise<void> {
    const { family, rules, kernel, options } = this;
    const { servers, sets } = this.tables;
    const { addresses } = kernel;
    return cleanUpIpvs(
      { family, servers, sets, rules: rules.driver, addresses, pause: options.pause },
      this.logger,
    );
  }

  close(): Promise<void> {
    return this.rules.driver.close();
  }

  private async write(change: IpvsChange, rules: RulesWrite, rulesLast = false): Promise<OrderedWrite> {
    const { tables, desired, remains } = this;
    const write = new OrderedWrite(tables, rules, desired, change, remains, rulesLast);
    try {
      await write.run();
    } finally {
      remains.update(change);
    }
    return write;
  }
}

/**
 * The differences between the kernel's sets, virtual servers and addresses and the desired ones, in the syntax of ipset, ipvsadm and ip.
 * Virtual servers are compared while this is iterated, each with a step of its own.
 * @param tables as they were read last
 */
function* ipvsDifferences(
  desired: IpvsDesiredState,
  { sets, servers, addresses }: KernelTables,
  family: IpFamily,
): Generator<RuleDifference | undefined> {
  for (const set of SERVICE_SETS)
    if (!sets.sets.has(set)) yield differing('+', `ipset ${createLine(setHeader(set, family))}`);
  yield* differingThings(
    desired,
    sets.members.all(),
    desired.members(),
    (member) => `ipset ${addLine(setName(setOf(member), family), withoutSet(member))}`,
  );
  const all = new Set([...servers.keys(), ...desired.serverKeys()]);
  for (const key of all) {
    yield undefined;
    const wanted = desired.server(key);
    if (!wanted && servers.isSpared(key)) continue;
    const should = wanted ? serverLines([wanted]) : [];
    const is = servers.lines(key, wanted?.endpoints ?? []);
    const { unexpected, missing } = sequenceDifference(is, should, false);
    for (const index of unexpected) yield differing('-', `ipvsadm ${is[index]!}`, wanted?.owner);
    for (const index of missing) yield differing('+', `ipvsadm ${should[index]!}`, wanted?.owner);
  }
  yield* differingThings(
    desired,
    addresses.all(),
    desired.addresses(),
    (address) => `ip address add ${address}/${addressBits(family)} dev ${SERVICE_DEVICE}`,
  );
}

function* differingThings<T extends string>(
  desired: IpvsDesiredState,
  actual: Iterable<T>,
  wanted: readonly T[],
  line: (what: T) => string,
): Generator<RuleDifference> {
  const present = new Set(actual);
  for (const what of present) if (desired.owners(what).length === 0) yield differing('-', line(what));
  for (const what of wanted)
    if (!present.has(what)) yield differing('+', line(what), desired.owners(what)[0]);
}
