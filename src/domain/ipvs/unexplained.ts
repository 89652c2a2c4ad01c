import type { IpvsChange } from './ipvs-change.js';
import type { IpvsDesiredState } from './desired-state.js';
import type { SetMember } from './service-port-rules.js';
import { SERVICE_SETS, type ServiceSet } from './service-sets.js';
import type { VirtualServerKey } from './virtual-server.js';

/** What the kernel has of a family. */
export interface PresentState {
  readonly servers: Iterable<VirtualServerKey>;
  readonly addresses: Iterable<string>;
  members(set: ServiceSet): Iterable<string>;
}

const PORTS = /^KUBE-NODE-PORT-(?:LOCAL-)?(TCP|UDP)$/;
const FRONTENDS = /^KUBE-(?:CLUSTER-IP|EXTERNAL-IP|LOAD-BALANCER|NODE-PORT)/;
const ADDRESS_AND_PORT = /^[^,]+,[^,]+/;

/**
 * What an earlier process left and no service port explains, kept because not every service port is known yet. Each part
 * stays until a service port asks for it. The members of one frontend are explained together: a service port knows all that
 * its frontend has in any set.
 */
export class Unexplained {
  private readonly servers = new Set<VirtualServerKey>();
  private readonly addresses = new Set<string>();
  private readonly members = new Map<string, readonly SetMember[]>();

  /** @param present missing where every service port is known: nothing is kept */
  constructor(desired?: IpvsDesiredState, present?: PresentState) {
    if (!desired || !present) return;
    for (const key of present.servers) if (!desired.server(key)) this.servers.add(key);
    for (const address of present.addresses)
      if (desired.referencesToAddress(address).length === 0) this.addresses.add(address);
    const explained = new Set<string>();
    for (const set of SERVICE_SETS)
      for (const member of desired.membersOf(set)) explained.add(frontendOf({ set, member }));
    for (const set of SERVICE_SETS)
      for (const member of present.members(set)) this.keep({ set, member }, explained);
  }

  hasServer(key: VirtualServerKey): boolean {
    return this.servers.has(key);
  }

  hasAddress(address: string): boolean {
    return this.addresses.has(address);
  }

  hasMember(member: SetMember): boolean {
    return this.members.get(frontendOf(member))?.some((kept) => isSame(kept, member)) ?? false;
  }

  /** The sets that have such members. */
  get sets(): ReadonlySet<ServiceSet> {
    return new Set([...this.members.values()].flat().map(({ set }) => set));
  }

  /** Stops keeping what the changed service ports ask for, and adds to the change what else that explains. */
  explain(desired: IpvsDesiredState, change: IpvsChange): void {
    for (const key of change.servers) if (desired.server(key)) this.servers.delete(key);
    for (const address of change.addresses)
      if (desired.referencesToAddress(address).length > 0) this.addresses.delete(address);
    if (this.members.size === 0) return;
    const explained = [...change.members].flatMap(([set, members]) =>
      [...members].flatMap((member) =>
        desired.referencesToMember({ set, member }).length > 0 ? frontendOf({ set, member }) : [],
      ),
    );
    for (const frontend of explained) {
      for (const { set, member } of this.members.get(frontend) ?? []) change.member(set, member);
      this.members.delete(frontend);
    }
  }

  private keep(member: SetMember, explained: ReadonlySet<string>): void {
    const frontend = frontendOf(member);
    if (explained.has(frontend)) return;
    this.members.set(frontend, [...(this.members.get(frontend) ?? []), member]);
  }
}

/** To which frontend a member belongs: an address and port, a node port, or the member alone. */
function frontendOf({ set, member }: SetMember): string {
  const [, protocol] = PORTS.exec(set) ?? [];
  if (protocol !== undefined) return `${protocol} ${member}`;
  const [addressAndPort] = FRONTENDS.test(set) ? (ADDRESS_AND_PORT.exec(member) ?? []) : [];
  return addressAndPort ?? `${set} ${member}`;
}

function isSame(one: SetMember, other: SetMember): boolean {
  return one.set === other.set && one.member === other.member;
}
