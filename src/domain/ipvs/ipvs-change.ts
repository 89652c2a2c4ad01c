import type { ServicePortKey } from '../model/service-port-name.js';
import type { ServiceSet } from './service-sets.js';
import type { VirtualServerKey } from './virtual-server.js';

/** Where a batch of replacements may have changed the desired state: only there is it compared with the kernel. */
export class IpvsChange {
  readonly servers = new Set<VirtualServerKey>();
  readonly addresses = new Set<string>();
  readonly members = new Map<ServiceSet, Set<string>>();
  /** Service ports whose iptables rules may have changed. */
  readonly rules = new Set<ServicePortKey>();

  member(set: ServiceSet, member: string): void {
    const members = this.members.get(set);
    if (members) members.add(member);
    else this.members.set(set, new Set([member]));
  }

  get isEmpty(): boolean {
    return this.servers.size + this.addresses.size + this.members.size + this.rules.size === 0;
  }

  add(other: IpvsChange): void {
    for (const key of other.servers) this.servers.add(key);
    for (const address of other.addresses) this.addresses.add(address);
    for (const [set, members] of other.members) for (const member of members) this.member(set, member);
    for (const owner of other.rules) this.rules.add(owner);
  }
}
