import { frontendName } from '../forwarding/forwarding-entry.js';
import type { SharedEntry } from '../iptables/table.js';
import { savedRules, type SavedTables } from '../iptables/saved-tables.js';
import {
  protocolOfNumber,
  type Protocol,
  type ServicePortKey,
  type ServicePortName,
} from '../model/service-port-name.js';
import type { AdoptedRules } from '../reconcile/desired-state.js';
import { OUT_FILTER } from './base-rules.js';
import type { IpvsDesiredState } from './desired-state.js';
import type { IpvsPart, IpvsServicePortRules, ServedAddress, SetMember } from './service-port-rules.js';
import { setOf, withoutSet } from './service-sets.js';

/** The kernel's state of a family. */
export interface PresentState {
  /** Those that may be deleted, with the real servers that get new connections. */
  readonly servers: readonly ServedAddress[];
  readonly addresses: Iterable<string>;
  readonly members: Iterable<SetMember>;
  readonly rules: SavedTables;
}

const PORTS = /^KUBE-NODE-PORT-(?:LOCAL-)?(TCP|UDP)$/;
const FRONTENDS = /^KUBE-(?:CLUSTER-IP|EXTERNAL-IP|LOAD-BALANCER|NODE-PORT)/;
const ADDRESS_AND_PORT = /^([^,]+),(\w+):(\d+)/;
/** An entry names its virtual server. */
const VIRTUAL_SERVER = / -m ipvs --vproto (\d+) --vaddr (\S+) --vport (\d+) /;

/** A part that is being put together. */
interface Collected extends IpvsPart {
  readonly members: SetMember[];
  readonly rules: SharedEntry[];
}

/**
 * The kernel's content, as parts, each under its key as its label. No part names a Service, so a service port is known by the
 * parts that it claims. Everything about one frontend, in any set, is in its part. An address is in the parts of all its
 * virtual servers, or in one of its own.
 */
export class IpvsAdoptedRules implements AdoptedRules<IpvsServicePortRules> {
  private readonly parts = new Map<string, Collected>();
  /** By the address that they have bound. */
  private readonly binding = new Map<string, Collected[]>();

  /** @param desired has the current claims and owners of parts */
  constructor(
    present: PresentState,
    private readonly desired: Pick<IpvsDesiredState, 'ownerOf' | 'rules'>,
  ) {
    for (const address of present.addresses) this.binding.set(address, []);
    for (const served of present.servers) {
      const { address, port, protocol } = served.server;
      const key = frontendName(address, port, protocol);
      const parts = this.binding.get(address);
      const part = { key, frontend: key, served, ...(parts && { bound: address }), members: [], rules: [] };
      this.put(part);
      parts?.push(part);
    }
    for (const [bound, parts] of this.binding)
      if (parts.length === 0) parts.push(this.put({ key: bound, bound, members: [], rules: [] }));
    for (const member of present.members) for (const part of this.partsOf(member)) part.members.push(member);
    for (const entry of entriesOf(present.rules)) this.frontend(entry.frontend!).rules.push(entry);
  }

  labels(): Iterable<string> {
    return this.parts.keys();
  }

  labelsOf(_: ServicePortName, rules: IpvsServicePortRules | undefined): readonly string[] | undefined {
    return rules?.map(({ key }) => key);
  }

  rules(labels: readonly string[], owner: ServicePortKey): IpvsServicePortRules | undefined {
    const parts = labels.flatMap((label) =>
      this.isClaimedByOthersOnly(label, owner) ? [] : (this.parts.get(label) ?? []),
    );
    return parts.length > 0 ? parts : undefined;
  }

  private isClaimedByOthersOnly(key: string, owner: ServicePortKey): boolean {
    const isOwn = () => this.desired.rules(owner)?.some((part) => part.key === key);
    return (this.desired.ownerOf(key) ?? owner) !== owner && !isOwn();
  }

  private put(part: Collected): Collected {
    this.parts.set(part.key, part);
    return part;
  }

  private frontend(name: string): Collected {
    return this.parts.get(name) ?? this.put({ key: name, frontend: name, members: [], rules: [] });
  }

  /** To which parts a member belongs. */
  private partsOf(member: SetMember): readonly Collected[] {
    const set = setOf(member);
    const text = withoutSet(member);
    const binding = set === 'KUBE-IPVS-IPS' ? this.binding.get(text) : undefined;
    if (binding) return binding;
    const [, protocol] = PORTS.exec(set) ?? [];
    if (protocol !== undefined)
      return [this.frontend(frontendName(undefined, Number(text), protocol as Protocol))];
    const [, address, name, port] = FRONTENDS.test(set) ? (ADDRESS_AND_PORT.exec(text) ?? []) : [];
    if (address !== undefined)
      return [this.frontend(frontendName(address, Number(port), name!.toUpperCase() as Protocol))];
    return [this.parts.get(member) ?? this.put({ key: member, members: [], rules: [] })];
  }
}

/** The entries of service ports, each with the name of its frontend. */
function entriesOf(tables: SavedTables): readonly SharedEntry[] {
  return (savedRules(tables, 'filter', OUT_FILTER) ?? []).flatMap((rule) => {
    const [, number, address, port] = VIRTUAL_SERVER.exec(rule) ?? [];
    const protocol = protocolOfNumber(Number(number));
    if (address === undefined || protocol === undefined) return [];
    const frontend = frontendName(address, Number(port), protocol);
    return { table: 'filter', chain: OUT_FILTER, rule, frontend };
  });
}
