import type { ServicePortKey } from '../model/service-port-name.js';
import type { HeldPart } from '../reconcile/held-parts.js';
import type { IpvsPart, SetMember } from './service-port-rules.js';
import type { VirtualServerKey } from './virtual-server.js';

/** Where a batch of replacements may have changed the desired state: only there is it compared with the kernel. */
export class IpvsChange {
  /** Service ports that are replaced, whatever they get or had. */
  readonly servicePorts = new Set<ServicePortKey>();
  /** What service ports have from now on, or had until now. */
  readonly parts = new Set<HeldPart<IpvsPart>>();
  readonly servers = new Set<VirtualServerKey>();
  readonly addresses = new Set<string>();
  readonly members = new Set<SetMember>();
  /** Service ports whose iptables rules may have changed. */
  readonly rules = new Set<ServicePortKey>();
  /** Who asked for it first, before or after the change, by virtual server, address or member. */
  readonly owners = new Map<string, ServicePortKey>();

  /** A part that a service port has from now on, or had until now. */
  add(held: HeldPart<IpvsPart>): void {
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
