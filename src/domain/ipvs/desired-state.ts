import type { FrontendAddress } from '../conntrack/frontend-map.js';
import type { NodeNetwork } from '../forwarding/node-network.js';
import { IptablesDesiredState, DesiredTables } from '../iptables/desired-state.js';
import type { IptablesHost } from '../iptables/options.js';
import type { IptablesServicePortRules } from '../iptables/table.js';
import type { ServicePortKey } from '../model/service-port-name.js';
import type { IpFamily } from '../net/ip-family.js';
import type { DesiredState } from '../reconcile/desired-state.js';
import { OwnedParts, type OwnedPart } from '../reconcile/owned-parts.js';
import { ipvsBaseRules } from './base-rules.js';
import type { IpSet } from './ip-set.js';
import type { IpvsPart, IpvsServicePortRules, ServedAddress, SetMember } from './service-port-rules.js';
import { SERVICE_SETS, setOf, type ServiceSet, setHeader, withoutSet } from './service-sets.js';
import { virtualServerKey, type VirtualServerKey } from './virtual-server.js';

/** A virtual server as it should be, and the service port that holds it. */
interface OwnedServer extends ServedAddress {
  readonly owner: ServicePortKey;
}

const NO_OWNERS: readonly ServicePortKey[] = [];

/**
 * The desired state of IPVS mode: that of the parts that service ports own. Any number of parts may refer to an address or a
 * set member, which is there as long as one does.
 */
export class IpvsDesiredState implements DesiredState<IpvsServicePortRules, IpvsChange> {
  /** A part that comes again is compared with the kernel again, which may have refused some of it. */
  private readonly parts = new OwnedParts<IpvsPart>(() => false);
  /** Addresses and members, with the parts that refer to them and the owners of these. */
  private readonly shared = new Map<string, Map<string, ServicePortKey>>();
  /** How many members each set has. */
  private readonly sizes = new Map<ServiceSet, number>();

  rules(owner: ServicePortKey): IpvsServicePortRules | undefined {
    return this.parts.of(owner);
  }

  replace(owner: ServicePortKey, rules: IpvsServicePortRules | undefined, change?: IpvsChange): void {
    change?.servicePorts.add(owner);
    this.parts.replace(owner, rules, (before, after) => {
      if (before) this.drop(before);
      if (after) this.hold(after);
      for (const held of [before, after]) if (held) change?.add(held);
    });
  }

  /** The service port that has the part. */
  ownerOf(key: string): ServicePortKey | undefined {
    return this.parts.ownerOf(key);
  }

  newChange(): IpvsChange {
    return new IpvsChange();
  }

  lost(frontends: readonly FrontendAddress[]): readonly FrontendAddress[] {
    return frontends.filter((frontend) => !this.server(virtualServerKey({ ...frontend, protocol: 'UDP' })));
  }

  server(key: VirtualServerKey): OwnedServer | undefined {
    const served = this.parts.heldPart(key)?.served;
    return served && { ...served, owner: this.ownerOf(key)! };
  }

  *serverKeys(): Generator<VirtualServerKey> {
    for (const { part } of this.parts.held()) if (part.served) yield part.key;
  }

  /** The service ports that require this virtual server, address or member; none if it must not be there. */
  owners(what: string): readonly ServicePortKey[] {
    const references = this.shared.get(what);
    if (references) return [...new Set(references.values())];
    const server = this.server(what);
    return server ? [server.owner] : NO_OWNERS;
  }

  addresses(): readonly string[] {
    return [...this.shared.keys()].filter((what) => !isMember(what));
  }

  members(): readonly SetMember[] {
    return [...this.shared.keys()].filter(isMember);
  }

  /** The sets that have members. */
  get filled(): ReadonlySet<ServiceSet> {
    return new Set(SERVICE_SETS.filter((set) => this.sizes.has(set)));
  }

  /** The service ports that hold parts with iptables rules. */
  ownersOfIptablesRules(): ReadonlySet<ServicePortKey> {
    return new Set(
      Array.from(
        this.parts.held(({ rules }) => rules.length > 0),
        ({ owner }) => owner,
      ),
    );
  }

  /** The iptables rules of the parts that the service port holds; undefined if there are none. */
  iptablesRules(owner: ServicePortKey): IptablesServicePortRules | undefined {
    const parts = this.rules(owner) ?? [];
    const entries = parts.flatMap(({ key, rules }) =>
      rules.length > 0 && this.ownerOf(key) === owner ? rules : [],
    );
    return entries.length > 0 ? { chains: [], entries } : undefined;
  }

  private hold({ owner, part }: OwnedPart<IpvsPart>): void {
    for (const what of sharedBy(part)) {
      const references = this.shared.get(what);
      if (references) references.set(part.key, owner);
      else {
        this.shared.set(what, new Map([[part.key, owner]]));
        this.count(what, 1);
      }
    }
  }

  private drop({ part }: OwnedPart<IpvsPart>): void {
    for (const what of sharedBy(part)) {
      const references = this.shared.get(what);
      if (!references?.delete(part.key) || references.size > 0) continue;
      this.shared.delete(what);
      this.count(what, -1);
    }
  }

  private count(what: string, step: 1 | -1): void {
    if (!isMember(what)) return;
    const set = setOf(what);
    const size = (this.sizes.get(set) ?? 0) + step;
    if (size > 0) this.sizes.set(set, size);
    else this.sizes.delete(set);
  }
}

/** Addresses and members that a part refers to. */
function sharedBy({ bound, members }: IpvsPart): readonly string[] {
  return bound === undefined ? members : [bound, ...members];
}

function isMember(what: string): what is SetMember {
  return what.includes(' ');
}

/** Where a batch of replacements may have changed the desired state: only there is it compared with the kernel. */
export class IpvsChange {
  /** Service ports that are replaced, with any rules before or after. */
  readonly servicePorts = new Set<ServicePortKey>();
  /** The rules of service ports after or before a change. */
  readonly parts = new Set<OwnedPart<IpvsPart>>();
  readonly servers = new Set<VirtualServerKey>();
  readonly addresses = new Set<string>();
  readonly members = new Set<SetMember>();
  /** Service ports whose iptables rules may have changed. */
  readonly rules = new Set<ServicePortKey>();
  /** Who requested it first, before or after the change, by virtual server, address or member. */
  readonly owners = new Map<string, ServicePortKey>();

  /** A part that a service port has from now on, or had until now. */
  add(held: OwnedPart<IpvsPart>): void {
    this.parts.add(held);
    const { owner, part } = held;
    const { key, served, bound, members, rules } = part;
    const note = <T extends string>(all: Set<T>, what: T): void => {
      all.add(what);
      if (!this.owners.has(what)) this.owners.set(what, owner);
    };
    if (served) note(this.servers, key);
    if (bound !== undefined) note(this.addresses, bound);
    for (const member of members) note(this.members, member);
    if (rules.length > 0) this.rules.add(owner);
  }
}

/** Everything of IPVS mode in one family: what a fresh start makes, and `plan` prints. */
export interface IpvsDesiredTables {
  readonly servers: readonly OwnedServer[];
  /** The addresses bound to the device of service addresses. */
  readonly addresses: readonly string[];
  readonly sets: readonly IpSet[];
  readonly rules: DesiredTables;
}

/** The desired state written out, sorted by key. */
export function ipvsDesiredTables(
  desired: IpvsDesiredState,
  node: NodeNetwork,
  host: Pick<IptablesHost, 'randomFully'>,
): IpvsDesiredTables {
  return {
    servers: [...desired.serverKeys()].sort().map((key) => desired.server(key)!),
    addresses: [...desired.addresses()].sort(),
    sets: desiredSets(desired, node.family),
    rules: new DesiredTables(desiredIptablesRules(desired), ipvsBaseRules(node, host, desired.filled)),
  };
}

/** All sets, their members sorted. */
function desiredSets(desired: IpvsDesiredState, family: IpFamily): readonly IpSet[] {
  const members = new Map<ServiceSet, Set<string>>(SERVICE_SETS.map((set) => [set, new Set()]));
  for (const member of [...desired.members()].sort()) members.get(setOf(member))!.add(withoutSet(member));
  return SERVICE_SETS.map((set) => ({ ...setHeader(set, family), members: members.get(set)! }));
}

/** Entries of service ports in iptables in this mode. */
function desiredIptablesRules(desired: IpvsDesiredState): IptablesDesiredState {
  const rules = new IptablesDesiredState();
  for (const owner of desired.ownersOfIptablesRules()) rules.replace(owner, desired.iptablesRules(owner));
  return rules;
}
