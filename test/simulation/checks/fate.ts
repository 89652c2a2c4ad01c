import { cidrContains, parseCidr } from '../../../src/domain/net/cidr.js';
import { getOrMake } from '../../../src/domain/model/maps.js';
import type { PacketPath } from '../../../src/diagnostics/domain/trace/trace.js';
import type { Mode } from '../world/settings.js';
import type { Client } from './clients.js';
import {
  usesCluster,
  type ExpectedEndpoint,
  type ExpectedFrontend,
  type ExpectedPort,
} from './expected-ports.js';

/**
 * What becomes of new connections, as a text that compares equal: `refused`, `dropped`, `untouched`, or the endpoints, each
 * with `*` where the source is rewritten, and `sticky` behind them.
 */
export type Fate = string;

/** Where walks of mode userspace end. */
const PROCESS = 'process 0';

/** Of what is allowed. */
const PLACES = new WeakMap<ReadonlySet<Fate>, ReadonlySet<string>>();

/** The table of docs/spec/model.md §5. */
export function expectedFate(
  port: ExpectedPort,
  frontend: ExpectedFrontend,
  client: Client,
  mode: Mode,
): Fate {
  return mode === 'ipvs' ? balancedFate(port, frontend, client) : filteredFate(port, frontend, client, mode);
}

/** A virtual server has the local endpoints if its policy asks for them and there are any, else all. */
function balancedFate(port: ExpectedPort, { kind }: ExpectedFrontend, client: Client): Fate {
  if (kind === 'load-balancer-ip' && !isAdmitted(port, client)) return 'drop';
  const wantsLocal = kind === 'cluster-ip' ? port.internalPolicyLocal : port.externalPolicyLocal;
  const all = usesCluster(port) ? port.cluster : [];
  const endpoints = wantsLocal && port.local.length > 0 ? port.local : all;
  return endpoints.length > 0 ? to(port, endpoints, client, false) : 'reject';
}

function filteredFate(port: ExpectedPort, { kind }: ExpectedFrontend, client: Client, mode: Mode): Fate {
  const isInternal = kind === 'cluster-ip';
  const isPod = isIn(port.localNetwork, client.source);
  const admitted = kind !== 'load-balancer-ip' || isAdmitted(port, client);
  // Mode nftables looks at the source first, mode iptables at whether there is an endpoint.
  if (!admitted) return port.hasAny || mode === 'nftables' ? 'drop' : 'reject';
  if (!port.hasAny) return 'reject';
  if (isInternal) {
    if (!port.internalPolicyLocal) return to(port, port.cluster, client, !isPod);
    return port.local.length > 0 ? to(port, port.local, client, !isPod) : 'drop';
  }
  if (!port.externalPolicyLocal) return to(port, port.cluster, client, true);
  if (isPod) return to(port, port.cluster, client, false);
  if (client.kind === 'node') return to(port, port.cluster, client, true);
  return port.local.length > 0 ? to(port, port.local, client, false) : 'drop';
}

/**
 * Whether a packet may fare so. Mode ipvs writes virtual servers one by one, knows no rejecting and follows policies in its own
 * way; in mode userspace the process decides about the endpoint, so that rules only show whether there is one.
 * @param isQuiet nothing is about to be written any more
 */
export function isAllowed(
  fate: Fate,
  allowed: ReadonlySet<Fate>,
  mode: Mode,
  client: Client,
  isQuiet: boolean,
): boolean {
  if (allowed.has(fate)) return true;
  // Rules of mode iptables that refuse packets to external addresses are not in the way of the node's own.
  if (mode === 'iptables' && fate === 'untouched')
    return client.kind === 'node' && (allowed.has('reject') || allowed.has('drop'));
  // A process without an endpoint takes a connection and closes it.
  if (mode === 'userspace')
    return placesOf(fate).includes(PROCESS) || [...allowed].every((one) => placesOf(one).length === 0);
  if (mode !== 'ipvs') return false;
  // Services that nobody serves have virtual servers, too, in the end: one that is only tried again later is taken for lost with the next change.
  if (isQuiet && fate === 'untouched') return false;
  const places = placesOf(fate);
  // While virtual servers are written, some of the endpoints; in the end all of them.
  if (isQuiet && places.length > 0) return [...allowed].some((one) => isSamePlaces(places, placesOf(one)));
  const known = getOrMake(PLACES, allowed, () => new Set([...allowed].flatMap(placesOf)));
  return places.length > 0 ? places.every((place) => known.has(place)) : known.size === 0;
}

/** Whether it is a fate that is allowed, but for endpoints at these addresses. */
export function lacksOnly(fate: Fate, allowed: ReadonlySet<Fate>, addresses: ReadonlySet<string>): boolean {
  if (addresses.size === 0) return false;
  const without = (one: Fate): Fate => {
    const [endpoints = '', ...sticky] = one.split('; ');
    const left = endpoints.split(', ').filter((place) => !addresses.has(place.split(' ')[0]!));
    return [left.join(', '), ...sticky].join('; ');
  };
  return [...allowed].some((one) => without(one) === fate);
}

/** Whether no connection is made, and none would have been by some allowed fate. */
export function isAsUnanswered(fate: Fate, allowed: ReadonlySet<Fate>): boolean {
  return placesOf(fate).length === 0 && [...allowed].some((one) => placesOf(one).length === 0);
}

const known = new WeakMap<readonly PacketPath[], Fate>();

/** What the rules make of it. */
export function actualFate(endings: readonly PacketPath[]): Fate {
  const fate = known.get(endings) ?? fateIn(endings);
  known.set(endings, fate);
  return fate;
}

function fateIn(endings: readonly PacketPath[]): Fate {
  const verdicts = new Set(endings.map(({ verdict }) => verdict));
  if (verdicts.size > 1) return [...verdicts].sort().join(' or ');
  if (!verdicts.has('forward')) return [...verdicts][0] ?? 'untouched';
  const places = endings.map(
    ({ endpoint, masquerade }) => `${endpoint!.address} ${endpoint!.port}${masquerade ? '*' : ''}`,
  );
  return describe(
    new Set(places),
    endings.every(({ sticky }) => sticky),
  );
}

/** The endpoints of a fate, without anything else. Empty when no connection is made. */
export function placesOf(fate: Fate): readonly string[] {
  return [...fate.matchAll(/(\S+ \d+)\*?(?:,|$|;)/g)].map(([, place]) => place!);
}

/** Each comes in order. */
function isSamePlaces(one: readonly string[], other: readonly string[]): boolean {
  return one.join() === other.join();
}

function to(
  port: ExpectedPort,
  endpoints: readonly ExpectedEndpoint[],
  { source }: Client,
  masquerade: boolean,
): Fate {
  const places = endpoints.map(
    ({ address, port: number }) => `${address} ${number}${masquerade || address === source ? '*' : ''}`,
  );
  return describe(new Set(places), port.affinity > 0);
}

function describe(places: ReadonlySet<string>, isSticky: boolean): Fate {
  return [...places].sort().join(', ') + (isSticky ? '; sticky' : '');
}

function isAdmitted({ sourceRanges }: ExpectedPort, { source }: Client): boolean {
  if (sourceRanges.length === 0) return true;
  return sourceRanges.some((range) => isIn(range, source));
}

/** Few networks and sources come in all worlds. */
const ANSWERS = new Map<string, boolean>();

function isIn(network: string, address: string): boolean {
  return getOrMake(ANSWERS, `${network} ${address}`, () => cidrContains(parseCidr(network)!, address));
}
