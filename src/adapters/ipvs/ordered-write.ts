import type { ServiceFailure } from '../../application/ports/backend.js';
import type { IpvsDesiredState, IpvsChange } from '../../domain/ipvs/desired-state.js';
import { serverOf, type SetMember, type IpvsPart } from '../../domain/ipvs/service-port-rules.js';
import { SERVICE_SETS, setOf, type ServiceSet } from '../../domain/ipvs/service-sets.js';
import type { VirtualServerKey } from '../../domain/ipvs/virtual-server.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { OwnedPart } from '../../domain/reconcile/owned-parts.js';
import { IpvsTemporaryError } from './ipvs-kernel.js';
import type { KernelTables } from './kernel-tables.js';
import type { Outcome } from './presence-table.js';

/** Its members are closed to every source that no other set lets in, so they are added last and deleted first. */
const GATE: ServiceSet = 'KUBE-LOAD-BALANCER-FW';

/** The iptables rules of a write. Both return the number of steps, and throw RejectedError where the kernel does not take them. */
export interface RulesWrite {
  /** Of what `add` writes, what keeps packets away. Missing where that is written already. */
  guard?(filled: ReadonlySet<ServiceSet>): Promise<number>;
  /** Writes the base rules for sets that have members, and the rules of service ports that have any. */
  add(filled: ReadonlySet<ServiceSet>): Promise<number>;
  /** The same, and removes rules of service ports that have none any more. */
  remove(filled: ReadonlySet<ServiceSet>): Promise<number>;
}

/**
 * One write of a change, in this order: members, rules, virtual servers, addresses; then removals in the reverse order. So an
 * address takes connections only when everything behind it is there, and what moves from one service port to another is never
 * missing. A rejection is blamed on the service ports that refer to what was refused, or had it. They get no new virtual servers before they
 * have their members, what is left of one that is gone is removed no further, and a virtual server that the kernel keeps keeps the members
 * that close it to some sources.
 */
export class OrderedWrite {
  /** Steps. */
  written = 0;
  /** Why something could not be removed that no service port is known to have had. */
  readonly failedDeletes = new Set<string>();
  private readonly reasons = new Map<ServicePortKey, string>();
  private temporary: string | undefined;

  /**
   * @param change where to compare the kernel with the desired state
   * @param remains of former writes
   * @param rulesLast virtual servers and addresses come before the rules that lead packets there: others serve until these replace them
   */
  constructor(
    private readonly tables: KernelTables,
    private readonly rules: RulesWrite,
    private readonly desired: IpvsDesiredState,
    private readonly change: IpvsChange,
    private readonly remains: Pick<Remains, 'ownerOf'>,
    private readonly rulesLast: boolean,
  ) {}

  /** Service ports of which a part was refused, each with the first reason. */
  get failed(): readonly ServiceFailure[] {
    return Array.from(this.reasons, ([key, reason]) => ({ key, reason }));
  }

  /** @throws IpvsTemporaryError when all was tried, if a rejected step belongs to no service port */
  async run(): Promise<void> {
    const { change, rulesLast } = this;
    const { addresses, servers } = this.tables;
    const sets = this.tables.sets.members;
    const members = inOrder(change.members);
    const isGate = (member: SetMember): boolean => setOf(member) === GATE;
    await this.add(
      sets,
      members.filter((member) => !isGate(member)),
    );
    if (rulesLast) this.written += (await this.rules.guard?.(this.filled())) ?? 0;
    else await this.addRules();
    await this.add(sets, members.filter(isGate));
    await this.makeServers();
    await this.add(addresses, [...change.addresses]);
    if (rulesLast) await this.addRules();
    await this.remove(addresses, [...change.addresses]);
    await this.remove(servers, [...change.servers]);
    await this.remove(
      sets,
      members.reverse().filter((member) => !this.isKept(serverOf(member))),
    );
    this.written += await this.rules.remove(this.filled());
    if (this.temporary !== undefined) throw new IpvsTemporaryError(this.temporary);
  }

  /** Sets that still have members keep their rules. */
  private async addRules(): Promise<void> {
    this.written += await this.rules.add(this.filled());
  }

  private filled(): ReadonlySet<ServiceSet> {
    const present = [...this.change.members].filter((member) => this.tables.sets.members.has(member));
    return new Set([...this.desired.filled, ...present.map(setOf)]);
  }

  /** Whether this virtual server is there although it was to be removed. */
  private isKept(key: VirtualServerKey | undefined): boolean {
    return key !== undefined && this.tables.hasRemovable(key) && !this.desired.server(key);
  }

  private async makeServers(): Promise<void> {
    const { servers } = this.tables;
    const wanted = [...this.change.servers].flatMap((key) => {
      const server = this.desired.server(key);
      return server && (servers.has(key) || this.mayAdd(key)) ? [[key, server] as const] : [];
    });
    this.note(await servers.make(new Map(wanted)));
  }

  private async add<T extends string>(
    table: { add(all: readonly T[]): Promise<Outcome<T>> },
    all: readonly T[],
  ): Promise<void> {
    this.note(await table.add(all.filter((what) => this.mayAdd(what))));
  }

  private async remove<T extends string>(
    table: { remove(all: readonly T[]): Promise<Outcome<T>> },
    all: readonly T[],
  ): Promise<void> {
    const { desired, change } = this;
    const unexpected = all.filter(
      (what) => desired.owners(what).length === 0 && !this.reasons.has(change.owners.get(what) ?? ''),
    );
    this.note(await table.remove(unexpected));
  }

  /** Whether a service port that refers to it has got everything so far. */
  private mayAdd(what: string): boolean {
    return this.desired.owners(what).some((key) => !this.reasons.has(key));
  }

  private note({ written, refused }: Outcome<string>): void {
    this.written += written;
    for (const { what, reason, isTemporary } of refused) {
      if (isTemporary) this.temporary ??= reason;
      const owners = this.desired.owners(what);
      const blamed = owners.length > 0 ? owners : this.formerOwner(what);
      for (const key of blamed) if (!this.reasons.has(key)) this.reasons.set(key, reason);
      if (blamed.length === 0) this.failedDeletes.add(reason);
    }
  }

  /** The service port that had it; none if that was before the start. */
  private formerOwner(what: string): readonly ServicePortKey[] {
    const owner = this.change.owners.get(what) ?? this.remains.ownerOf(what);
    return owner === undefined ? [] : [owner];
  }
}

/** In the order in which sets are filled. */
function inOrder(members: Iterable<SetMember>): SetMember[] {
  const place = new Map(SERVICE_SETS.map((set, index) => [set, index]));
  return [...members].sort((one, other) => place.get(setOf(one))! - place.get(setOf(other))!);
}

/**
 * Former parts of service ports that the kernel still has: their removal was rejected, or not tried. The desired state
 * has forgotten it, so it is remembered here whose it was: that service port fails until it is gone.
 */
export class Remains {
  private parts: readonly OwnedPart<IpvsPart>[] = [];

  constructor(
    private readonly tables: KernelTables,
    private readonly desired: IpvsDesiredState,
  ) {}

  get areNone(): boolean {
    return this.parts.length === 0;
  }

  /** The service port that had this virtual server, address or member. */
  ownerOf(what: string): ServicePortKey | undefined {
    return this.parts.find(({ part }) => thingsOf(part).includes(what))?.owner;
  }

  /** Has what remains of the service ports that change removed again. */
  addTo(change: IpvsChange): void {
    for (const held of this.parts) if (change.servicePorts.has(held.owner)) change.add(held);
  }

  /** To be called when the change was written, as far as that went. */
  update(change: IpvsChange): void {
    const all = new Set([...this.parts, ...change.parts]);
    this.parts = [...all].filter(({ part }) => thingsOf(part).some((what) => this.isLeft(what)));
  }

  private isLeft(what: string): boolean {
    return this.tables.hasRemovable(what) && this.desired.owners(what).length === 0;
  }
}

/** Its virtual server, address and members. */
function thingsOf({ key, served, bound, members }: IpvsPart): readonly string[] {
  return [...(served ? [key] : []), ...(bound === undefined ? [] : [bound]), ...members];
}
