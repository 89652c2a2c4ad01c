import type { ServicePortKey } from '../model/service-port-name.js';
import type { IpvsPart, SetMember } from './service-port-rules.js';
import type { VirtualServerKey } from './virtual-server.js';

/** Where a batch of replacements may have changed the desired state: only there is it compared with the kernel. */
export class IpvsChange {
  readonly servers = new Set<VirtualServerKey>();
  readonly addresses = new Set<string>();
  readonly members = new Set<SetMember>();
  /** Service ports whose iptables rules may have changed. */
  readonly rules = new Set<ServicePortKey>();
  /** Who asked for it first, before or after the change, by virtual server, address or member. */
  readonly owners = new Map<string, ServicePortKey>();

  /** A part that a service port has from now on, or had until now. */
  add({ key, served, bound, members, rules }: IpvsPart, owner: ServicePortKey): void {
    const note = <T extends string>(all: Set<T>, what: T): void => {
      all.add(what);
      if (!this.owners.has(what)) this.owners.set(what, owner);
    };
    if (served) note(this.servers, key);
    if (bound !== undefined) note(this.addresses, bound);
    for (const member of members) note(this.members, member);
    if (rules.length > 0) this.rules.add(owner);
  }

  /** Also compares what another change concerns, but for iptables rules. */
  include({ servers, addresses, members, owners }: IpvsChange): void {
    for (const key of servers) this.servers.add(key);
    for (const address of addresses) this.addresses.add(address);
    for (const member of members) this.members.add(member);
    for (const [what, owner] of owners) if (!this.owners.has(what)) this.owners.set(what, owner);
  }
}
