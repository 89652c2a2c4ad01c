import type { IpSet } from '../../../domain/ipvs/ip-set.js';
import type { ListedRules, RuleSource, WalkedChain, WalkedRule } from '../iptables/rule.js';
import { walkTables } from '../iptables/tables-walk.js';
import { walkIpvs, type WalkedServer } from '../ipvs-walk.js';
import { virtualServerKey, type VirtualServerKey } from '../../../domain/ipvs/virtual-server.js';
import { singleAddress, rangeOf, type AddressRange } from './address-ranges.js';
import type { Side, NamedDestination } from './side.js';
import { isProtocol } from '../../../domain/model/service-port-name.js';
import type { Protocol } from '../../../domain/model/service-port-name.js';
import { parseCidr } from '../../../domain/net/cidr.js';
import { desiredRules } from '../iptables/desired-rules.js';
import type { IpvsDesiredTables } from '../../../domain/ipvs/desired-state.js';
import { getOrMake } from '../../../domain/model/maps.js';
import type { Chain } from '../walk/chain-walk.js';
import type { PacketState } from '../walk/packet-state.js';

/** All tables of iptables in one family. */
export function tablesSide(rules: ListedRules): Side {
  const narrowed = new NarrowedRules(rules);
  return {
    mode: 'iptables',
    serviceAddresses: new Set(),
    unsupported: [],
    destinations: () => tablesDestinations(rules),
    walk: (packet, environment, watch) => walkTables(narrowed, packet, environment, { watch }),
  };
}

/** What IPVS mode has in one family. */
export interface IpvsRules {
  readonly rules: ListedRules;
  readonly sets: readonly IpSet[];
  readonly servers: ReadonlyMap<VirtualServerKey, WalkedServer>;
  /** On the device of service addresses. */
  readonly addresses: ReadonlySet<string>;
}

/** Tables of iptables together with IPVS. */
export function ipvsSide({ rules, sets, servers, addresses }: IpvsRules): Side {
  const inputs = {
    rules: new NarrowedRules(rules),
    sets: new Map(sets.map((set) => [set.name, set])),
    server: (id: Parameters<typeof virtualServerKey>[0]) => servers.get(virtualServerKey(id)),
    addresses,
  };
  return {
    mode: 'ipvs',
    serviceAddresses: addresses,
    unsupported: [],
    *destinations() {
      yield* tablesDestinations(rules);
      yield* setDestinations(sets);
      for (const address of addresses) yield { addresses: singleAddress(address) };
      for (const { server } of servers.values()) {
        const { address, protocol, port } = server;
        yield { addresses: singleAddress(address), protocol, ports: [port, port] };
      }
    },
    walk: (packet, environment, watch) => walkIpvs(inputs, packet, environment, undefined, watch),
  };
}

const QUOTED = /"[^"]*"/g;
const DESTINATION = /(?:^| )(?:-d|--ctorigdst) (\S+)/;
const PROTOCOL = /(?:^| )-p (\S+)/;
const PORTS = /(?:^| )(?:--dports?|--ports|--ctorigdstport) (\S+)/;

/** Every destination that a rule of the tables names. */
function* tablesDestinations(rules: ListedRules): Generator<NamedDestination> {
  for (const chain of rules.all())
    for (const { text } of chain.rules) yield* destinationsIn(text.replaceAll(QUOTED, ''));
}

function* destinationsIn(text: string): Generator<NamedDestination> {
  const network = DESTINATION.exec(text)?.[1];
  const protocol = protocolOf(PROTOCOL.exec(text)?.[1] ?? '');
  const ports = PORTS.exec(text)?.[1];
  if (network === undefined && ports === undefined) return;
  const where = {
    ...(network !== undefined && { addresses: addressesIn(network) }),
    ...(protocol && { protocol }),
  };
  if (ports === undefined) yield where;
  for (const range of ports?.split(',') ?? []) {
    const [first = '', last = first] = range.split(':');
    yield { ...where, ports: [Number(first), Number(last)] };
  }
}

function addressesIn(text: string): AddressRange {
  const cidr = parseCidr(text);
  return cidr ? rangeOf(cidr) : singleAddress(text);
}

function protocolOf(text: string): Protocol | undefined {
  const name = text.toUpperCase();
  return isProtocol(name) ? name : undefined;
}

/** Every destination that a member of a set names, as if each were looked up by destinations. */
function* setDestinations(sets: Iterable<IpSet>): Generator<NamedDestination> {
  for (const { type, members } of sets)
    for (const member of members) {
      const [first = '', second = ''] = member.split(',');
      if (type === 'bitmap:port') yield { ports: [Number(first), Number(first)] };
      else if (second === '') yield { addresses: addressesIn(first) };
      else {
        const [name = '', port = ''] = second.split(':');
        const protocol = protocolOf(name);
        yield {
          addresses: addressesIn(first),
          ...(protocol && { protocol }),
          ports: [Number(port), Number(port)],
        };
      }
    }
}

/** The virtual servers, sets and tables that IPVS mode would write. */
export function ipvsPlan({ rules, sets, servers, addresses }: IpvsDesiredTables): Side {
  const walked = servers.map(({ server, endpoints, owner: servicePort }) => {
    const realServers = endpoints.map(({ address, port, weight = 1 }) => ({ address, port, weight }));
    return [virtualServerKey(server), { server, realServers, servicePort }] as const;
  });
  return ipvsSide({
    rules: desiredRules(rules),
    sets,
    servers: new Map(walked),
    addresses: new Set(addresses),
  });
}

/** Shorter chains are walked through as they are. */
const LONG = 32;

/** Rules of a chain with their places in it. */
type Placed = readonly (readonly [place: number, rule: WalkedRule])[];

const NONE: Placed = [];

/**
 * Tables of which a packet meets only rules that may concern it, whatever their number: in long chains those for another destination
 * or destination port are passed over.
 */
class NarrowedRules implements RuleSource {
  private readonly chains = new Map<WalkedChain, WalkedChain>();

  constructor(private readonly rules: RuleSource) {}

  chain(table: string, name: string): WalkedChain | undefined {
    const chain = this.rules.chain(table, name);
    if (!chain || chain.rules.length < LONG) return chain;
    return getOrMake(this.chains, chain, () => narrowable(chain));
  }
}

const ADDRESS = /(?:^| )(! )?-d (\S+)\/(?:32|128)(?: |$)/;
const PORT = /(?:^| )(! )?--dport (\d+)(?: |$)/;
const QUOTED_TEXT = /"[^"]*"/g;

function narrowable(chain: WalkedChain): WalkedChain {
  const groups = new Map<string, (readonly [number, WalkedRule])[]>();
  chain.rules.forEach((rule, place) => getOrMake(groups, keyOf(rule), () => []).push([place, rule]));
  const of = (key: string): Placed => groups.get(key) ?? NONE;
  return {
    ...chain,
    narrowed: ({ destination, port }: PacketState): Chain<WalkedRule> => {
      const found = [...of(''), ...of(destination), ...of(`:${port}`)];
      return { rules: found.sort(([one], [other]) => one - other).map(([, rule]) => rule) };
    },
  };
}

/** The one address that a rule is for, else its one port, else nothing. */
function keyOf({ text: whole }: WalkedRule): string {
  const text = whole.replaceAll(QUOTED_TEXT, '""');
  const [, notAddress, address] = ADDRESS.exec(text) ?? [];
  if (address !== undefined && notAddress === undefined) return address;
  const [, notPort, port] = PORT.exec(text) ?? [];
  return port !== undefined && notPort === undefined ? `:${port}` : '';
}
