import type { IptablesServicePortRules, SharedEntry } from '../iptables/table.js';
import type { ServicePortKey } from '../model/service-port-name.js';
import type { FrontendClaim, IpvsServicePortRules, ServedAddress, SetMember } from './service-port-rules.js';
import { SERVICE_SETS, type ServiceSet } from './service-sets.js';
import type { IpvsChange } from './ipvs-change.js';
import { virtualServerKey, type VirtualServerKey } from './virtual-server.js';

/** A frontend for which two service ports ask. The virtual server is that of `holder`. */
export interface FrontendConflict {
  readonly frontend: string;
  readonly holder: ServicePortKey;
  readonly loser: ServicePortKey;
}

/** A virtual server as it should be, and the service port behind it. */
export interface OwnedServer extends ServedAddress {
  readonly owner: ServicePortKey;
}

/** How often each service port asks for something. */
type References = Map<ServicePortKey, number>;

interface Claim {
  readonly owner: ServicePortKey;
  readonly claim: FrontendClaim;
}

/**
 * What mode ipvs wants in the kernel, as the fragments of all service ports make it. Each frontend is held by the first
 * of those that claim it; addresses and members may be asked for by many and are there as long as one does. Replacing
 * one fragment costs what is in it. What it holds depends only on the fragments present, never on the order in which
 * they came.
 */
export class IpvsDesiredState {
  private readonly fragments = new Map<ServicePortKey, IpvsServicePortRules>();
  /** The claims on each frontend, in order of owners: the first holds it. */
  private readonly claims = new Map<string, readonly Claim[]>();
  private readonly servers = new Map<VirtualServerKey, OwnedServer>();
  private readonly bound = new Map<string, References>();
  private readonly members = new Map<ServiceSet, Map<string, References>>(
    SERVICE_SETS.map((set) => [set, new Map()]),
  );

  /** Puts a fragment in place of the owner's present one (undefined: takes it away) and notes in `touched` what that may change. */
  replace(owner: ServicePortKey, fragment: IpvsServicePortRules | undefined, touched?: IpvsChange): void {
    const former = this.fragments.get(owner);
    if (fragment) this.fragments.set(owner, fragment);
    else this.fragments.delete(owner);
    const claims = new Map(fragment?.claims.map((claim) => [claim.frontend, claim]));
    for (const { frontend } of former?.claims ?? [])
      if (!claims.has(frontend)) this.claim(frontend, owner, undefined, touched);
    for (const [frontend, claim] of claims) this.claim(frontend, owner, claim, touched);
    for (const member of fragment?.members ?? []) this.ask(member, owner, 1, touched);
    for (const member of former?.members ?? []) this.ask(member, owner, -1, touched);
  }

  server(key: VirtualServerKey): OwnedServer | undefined {
    return this.servers.get(key);
  }

  allServers(): ReadonlyMap<VirtualServerKey, OwnedServer> {
    return this.servers;
  }

  /** The service ports that want the address bound; none when it shall not be. */
  referencesToAddress(address: string): readonly ServicePortKey[] {
    return [...(this.bound.get(address)?.keys() ?? [])];
  }

  addresses(): Iterable<string> {
    return this.bound.keys();
  }

  /** The service ports that want the member in the set; none when it shall not be there. */
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

  /** The rules of the frontends that the service port holds; undefined when it is not there. */
  rulesOf(owner: ServicePortKey): IptablesServicePortRules | undefined {
    const fragment = this.fragments.get(owner);
    if (!fragment) return undefined;
    const held = fragment.claims.filter(({ frontend }) => this.claims.get(frontend)?.[0]?.owner === owner);
    const entries: SharedEntry[] = held.flatMap(({ rules }) => rules);
    return { chains: [], entries };
  }

  /** The conflicts on frontends that the owner is part of. */
  conflictsOf(owner: ServicePortKey): readonly FrontendConflict[] {
    return (this.fragments.get(owner)?.claims ?? []).flatMap(({ frontend }) => {
      const [holder, ...losers] = this.claims.get(frontend)!;
      return losers.map((loser) => ({ frontend, holder: holder!.owner, loser: loser.owner }));
    });
  }

  private claim(
    frontend: string,
    owner: ServicePortKey,
    claim: FrontendClaim | undefined,
    touched: IpvsChange | undefined,
  ): void {
    const before = this.claims.get(frontend) ?? [];
    const after = before.filter((other) => other.owner !== owner);
    if (claim) after.push({ owner, claim });
    if (after.length > 1) after.sort((one, other) => (one.owner < other.owner ? -1 : 1));
    if (after.length > 0) this.claims.set(frontend, after);
    else this.claims.delete(frontend);
    const [former] = before;
    const [present] = after;
    if (former?.claim === present?.claim) return;
    if (present) this.hold(present, 1, touched);
    if (former) this.hold(former, -1, touched);
    this.serve(present, former, touched);
  }

  private serve(
    present: Claim | undefined,
    former: Claim | undefined,
    touched: IpvsChange | undefined,
  ): void {
    const served = (present ?? former)?.claim.served;
    if (!served) return;
    const key = virtualServerKey(served.server);
    if (present?.claim.served) this.servers.set(key, { ...present.claim.served, owner: present.owner });
    else this.servers.delete(key);
    touched?.servers.add(key);
  }

  /** Counts, or counts no more, what comes with holding a frontend. */
  private hold({ owner, claim }: Claim, step: 1 | -1, touched: IpvsChange | undefined): void {
    if (claim.bound !== undefined) {
      count(this.bound, claim.bound, owner, step);
      touched?.addresses.add(claim.bound);
    }
    for (const member of claim.members) this.ask(member, owner, step, touched);
    if (claim.rules.length > 0) touched?.rules.add(owner);
  }

  private ask(
    { set, member }: SetMember,
    owner: ServicePortKey,
    step: 1 | -1,
    touched: IpvsChange | undefined,
  ): void {
    count(this.members.get(set)!, member, owner, step);
    touched?.member(set, member);
  }
}

function count(counts: Map<string, References>, what: string, owner: ServicePortKey, step: 1 | -1): void {
  const askers = counts.get(what) ?? new Map<ServicePortKey, number>();
  const present = (askers.get(owner) ?? 0) + step;
  if (present > 0) askers.set(owner, present);
  else askers.delete(owner);
  if (askers.size > 0) counts.set(what, askers);
  else counts.delete(what);
}
