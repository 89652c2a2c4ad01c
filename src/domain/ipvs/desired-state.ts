import type { IptablesServicePortRules } from '../iptables/table.js';
import type { ServicePortKey } from '../model/service-port-name.js';
import type { FrontendConflict } from '../reconcile/claims.js';
import type { DesiredState } from '../reconcile/desired-state.js';
import { HeldParts, type HeldPart } from '../reconcile/held-parts.js';
import type { IpvsChange } from './ipvs-change.js';
import type { IpvsPart, IpvsServicePortRules, ServedAddress, SetMember } from './service-port-rules.js';
import { SERVICE_SETS, setOf, type ServiceSet } from './service-sets.js';
import type { VirtualServerKey } from './virtual-server.js';

/** A virtual server as it should be, and the service port that holds it. */
export interface OwnedServer extends ServedAddress {
  readonly owner: ServicePortKey;
}

const NOBODY: readonly ServicePortKey[] = [];

/**
 * What mode ipvs wants in the kernel: that of the parts that service ports hold. Any number of parts may refer to an address or a
 * set member, which is there as long as one does.
 */
export class IpvsDesiredState implements DesiredState<IpvsServicePortRules, IpvsChange> {
  /** A part that comes again is compared with the kernel again, which may have refused some of it. */
  private readonly parts = new HeldParts<IpvsPart>(() => false);
  /** Addresses and members, with the parts that refer to them and the holders of these. */
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
  holder(key: string): ServicePortKey | undefined {
    return this.parts.holder(key);
  }

  conflictsOf(owner: ServicePortKey): readonly FrontendConflict[] {
    return this.parts.conflictsOf(owner);
  }

  server(key: VirtualServerKey): OwnedServer | undefined {
    const served = this.parts.heldPart(key)?.served;
    return served && { ...served, owner: this.holder(key)! };
  }

  *serverKeys(): Generator<VirtualServerKey> {
    for (const { part } of this.parts.held()) if (part.served) yield part.key;
  }

  /** The service ports that want this virtual server, address or member; none if it must not be there. */
  owners(what: string): readonly ServicePortKey[] {
    const references = this.shared.get(what);
    if (references) return [...new Set(references.values())];
    const server = this.server(what);
    return server ? [server.owner] : NOBODY;
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
      rules.length > 0 && this.holder(key) === owner ? rules : [],
    );
    return entries.length > 0 ? { chains: [], entries } : undefined;
  }

  private hold({ owner, part }: HeldPart<IpvsPart>): void {
    for (const what of sharedBy(part)) {
      const references = this.shared.get(what);
      if (references) references.set(part.key, owner);
      else {
        this.shared.set(what, new Map([[part.key, owner]]));
        this.count(what, 1);
      }
    }
  }

  private drop({ part }: HeldPart<IpvsPart>): void {
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
