import type { IptablesServicePortRules } from '../iptables/table.js';
import type { ServicePortKey } from '../model/service-port-name.js';
import { Claims, type FrontendConflict } from '../reconcile/claims.js';
import type { DesiredState } from '../reconcile/desired-state.js';
import type { IpvsChange } from './ipvs-change.js';
import type { FrontendRules, IpvsServicePortRules, ServedAddress, SetMember } from './service-port-rules.js';
import { SERVICE_SETS, type ServiceSet } from './service-sets.js';
import { virtualServerKey, type VirtualServerKey } from './virtual-server.js';

/** A virtual server as it should be, and the service port that holds it. */
export interface OwnedServer extends ServedAddress {
  readonly owner: ServicePortKey;
}

/** How often each service port refers to something. */
type References = Map<ServicePortKey, number>;

/** A frontend's rules, and the service port that holds the frontend. */
interface HeldFrontend {
  readonly owner: ServicePortKey;
  readonly frontend: FrontendRules;
}

/**
 * What mode ipvs wants in the kernel. Each frontend is held by one of the service ports that claim it. Any number of service
 * ports may refer to an address or a set member, which is there as long as one does.
 */
export class IpvsDesiredState implements DesiredState<IpvsServicePortRules, IpvsChange> {
  private readonly rulesByOwner = new Map<ServicePortKey, IpvsServicePortRules>();
  /** Of frontends, by name. */
  private readonly claims = new Claims();
  private readonly servers = new Map<VirtualServerKey, OwnedServer>();
  private readonly bound = new Map<string, References>();
  private readonly members = new Map<ServiceSet, Map<string, References>>(
    SERVICE_SETS.map((set) => [set, new Map()]),
  );

  rules(owner: ServicePortKey): IpvsServicePortRules | undefined {
    return this.rulesByOwner.get(owner);
  }

  replace(owner: ServicePortKey, rules: IpvsServicePortRules | undefined, change?: IpvsChange): void {
    const former = this.rulesByOwner.get(owner);
    if (rules) this.rulesByOwner.set(owner, rules);
    else this.rulesByOwner.delete(owner);
    const claimed = new Map(rules?.frontends.map((frontend) => [frontend.name, frontend]));
    for (const previous of former?.frontends ?? []) {
      const { name } = previous;
      const frontend = claimed.get(name);
      claimed.delete(name);
      if (!frontend) this.release(owner, previous, change);
      else if (this.claims.holder(name) === owner)
        this.switchHolder({ owner, frontend: previous }, { owner, frontend }, change);
    }
    for (const frontend of claimed.values()) this.claim(owner, frontend, change);
    for (const member of rules?.members ?? []) this.refer(member, owner, 1, change);
    for (const member of former?.members ?? []) this.refer(member, owner, -1, change);
  }

  server(key: VirtualServerKey): OwnedServer | undefined {
    return this.servers.get(key);
  }

  allServers(): ReadonlyMap<VirtualServerKey, OwnedServer> {
    return this.servers;
  }

  /** The service ports that want the address bound; none when it must not be bound. */
  referencesToAddress(address: string): readonly ServicePortKey[] {
    return [...(this.bound.get(address)?.keys() ?? [])];
  }

  addresses(): Iterable<string> {
    return this.bound.keys();
  }

  /** The service ports that want the member in the set; none when it must not be there. */
  referencesToMember({ set, member }: SetMember): readonly ServicePortKey[] {
    return [...(this.members.get(set)!.get(member)?.keys() ?? [])];
  }

  membersOf(set: ServiceSet): Iterable<string> {
    return this.members.get(set)!.keys();
  }

  /** The sets that have members. */
  get filled(): ReadonlySet<ServiceSet> {
    return new Set(SERVICE_SETS.filter((set) => this.members.get(set)!.size > 0));
  }

  /** The service ports that hold frontends with iptables rules. */
  ownersOfIptablesRules(): readonly ServicePortKey[] {
    return [...this.rulesByOwner.keys()].filter((owner) => this.iptablesRules(owner).entries.length > 0);
  }

  /** The iptables rules of the frontends that the service port holds. */
  iptablesRules(owner: ServicePortKey): IptablesServicePortRules {
    const frontends = this.rules(owner)?.frontends ?? [];
    return {
      chains: [],
      entries: frontends.flatMap(({ name, rules }) => (this.claims.holder(name) === owner ? rules : [])),
    };
  }

  conflictsOf(owner: ServicePortKey): readonly FrontendConflict[] {
    if (!this.claims.isContested) return [];
    return (this.rules(owner)?.frontends ?? []).flatMap(({ name }) => this.claims.conflicts(name, name));
  }

  private claim(owner: ServicePortKey, frontend: FrontendRules, change: IpvsChange | undefined): void {
    const { before, after } = this.claims.claim(frontend.name, owner);
    if (before !== after) this.switchHolder(this.held(frontend.name, before), { owner, frontend }, change);
  }

  private release(owner: ServicePortKey, frontend: FrontendRules, change: IpvsChange | undefined): void {
    const { before, after } = this.claims.release(frontend.name, owner);
    if (before !== after) this.switchHolder({ owner, frontend }, this.held(frontend.name, after), change);
  }

  private held(name: string, owner: ServicePortKey | undefined): HeldFrontend | undefined {
    const frontend =
      owner !== undefined && this.rules(owner)?.frontends.find((frontend) => frontend.name === name);
    return frontend ? { owner, frontend } : undefined;
  }

  private switchHolder(
    before: HeldFrontend | undefined,
    after: HeldFrontend | undefined,
    change: IpvsChange | undefined,
  ): void {
    if (after) this.hold(after, 1, change);
    if (before) this.hold(before, -1, change);
    const served = (after ?? before)?.frontend.served;
    if (!served) return;
    const key = virtualServerKey(served.server);
    if (after) this.servers.set(key, { ...served, owner: after.owner });
    else this.servers.delete(key);
    change?.servers.add(key);
  }

  /** Counts what comes with holding a frontend, or stops counting it. */
  private hold({ owner, frontend }: HeldFrontend, step: 1 | -1, change: IpvsChange | undefined): void {
    if (frontend.bound !== undefined) {
      count(this.bound, frontend.bound, owner, step);
      change?.addresses.add(frontend.bound);
    }
    for (const member of frontend.members) this.refer(member, owner, step, change);
    if (frontend.rules.length > 0) change?.rules.add(owner);
  }

  private refer(
    { set, member }: SetMember,
    owner: ServicePortKey,
    step: 1 | -1,
    change: IpvsChange | undefined,
  ): void {
    count(this.members.get(set)!, member, owner, step);
    change?.member(set, member);
  }
}

function count(counts: Map<string, References>, what: string, owner: ServicePortKey, step: 1 | -1): void {
  const references = counts.get(what) ?? new Map<ServicePortKey, number>();
  const present = (references.get(owner) ?? 0) + step;
  if (present > 0) references.set(owner, present);
  else references.delete(owner);
  if (references.size > 0) counts.set(what, references);
  else counts.delete(what);
}
