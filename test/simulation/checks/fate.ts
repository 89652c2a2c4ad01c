import type { Client as ModelClient, Mode as ModelMode } from '../../model/objects.js';
import { outcomeOf, unservedOutcome, type Outcome } from '../../model/outcome.js';
import { getOrMake } from '../../../src/domain/model/maps.js';
import type { PacketPath } from '../walks/packet-walk.js';
import type { Mode } from '../world/settings.js';
import type { Client } from './clients.js';
import type { ExpectedFrontend, ExpectedPort } from './expected-ports.js';

/**
 * What becomes of new connections, as a text that compares equal: `refused`, `dropped`, `untouched`, or the endpoints, each
 * with `*` where the source is rewritten, and `sticky` behind them.
 */
export type Fate = string;

/** Where walks of mode userspace end. */
const PROCESS = 'process 0';

/** Of what is allowed. */
const PLACES = new WeakMap<ReadonlySet<Fate>, ReadonlySet<string>>();

/** By the model of docs/internals/spec. */
export function expectedFate(
  port: ExpectedPort,
  frontend: ExpectedFrontend,
  client: Client,
  mode: Mode,
): Fate {
  return fateOf(
    outcomeOf({ port, frontend, selection: port }, modelClient(client, frontend, mode), {
      node: {
        ...{ name: '', zone: '', localAddresses: [] },
        podCIDRs: [port.localNetwork],
        primaryAddresses: [port.nodeAddress],
      },
      // What configures whose traffic is that of local pods has been looked up already.
      configuration: { mode: modelMode(mode), detectLocalMode: 'NodeCIDR' },
    }),
  );
}

/**
 * What becomes of packets to a port that no Service has.
 * @param isClusterIP whether another port has this address as its cluster IP
 */
export function unclaimedFate(isClusterIP: boolean, isInServiceRange: boolean, mode: Mode): Fate {
  return fateOf(unservedOutcome(isClusterIP, isInServiceRange, modelMode(mode)));
}

/**
 * Whether packets may be dropped until the nat table leads them on: of the tables of iptables mode `filter` is committed first, and its
 * rules drop what no chain of `nat` has admitted (docs/internals/spec/iptables.md).
 */
export function isClosedFirst(port: ExpectedPort, { kind }: ExpectedFrontend, mode: Mode): boolean {
  if (mode !== 'iptables' || kind === 'cluster-ip') return false;
  const isFirewalled = kind === 'load-balancer-ip' && port.sourceRanges.length > 0;
  return isFirewalled || (port.externalPolicyLocal && port.local.length === 0);
}

/** In mode userspace rules send packets to the process where those of mode iptables send them to an endpoint. */
function modelMode(mode: Mode): ModelMode {
  return mode === 'userspace' ? 'iptables' : mode;
}

function modelClient(
  { source, inputInterface }: Client,
  { address = source }: ExpectedFrontend,
  mode: Mode,
): ModelClient {
  // In IPVS mode the node has the addresses of Services, and sends to them with these.
  if (inputInterface === undefined) return { kind: 'node', source: mode === 'ipvs' ? address : source };
  return { kind: inputInterface.startsWith('veth') ? 'pod' : 'outside', source, inputInterface };
}

const VERDICTS = { rejected: 'reject', dropped: 'drop', untouched: 'untouched' } as const;

function fateOf(outcome: Outcome): Fate {
  if (outcome.kind !== 'endpoints') return VERDICTS[outcome.kind];
  const places = outcome.draws.map(
    ({ address, port, masqueraded }) => `${address} ${port}${masqueraded ? '*' : ''}`,
  );
  return describe(new Set(places), outcome.affinitySeconds > 0);
}

/**
 * Whether a packet may fare so. Mode ipvs writes virtual servers one by one, knows no rejecting and follows policies in its own
 * way; in mode userspace the process decides about the endpoint, so that rules only show whether there is one.
 * @param isQuiet nothing is about to be written any more
 */
export function isAllowed(fate: Fate, allowed: ReadonlySet<Fate>, mode: Mode, isQuiet: boolean): boolean {
  if (allowed.has(fate)) return true;
  // A process without an endpoint takes a connection and closes it.
  if (mode === 'userspace') {
    const isUnclaimed = [...allowed].every((one) => one === 'untouched');
    const places = placesOf(fate);
    if (places.length > 0) return places.includes(PROCESS) && !(isQuiet && isUnclaimed);
    return [...allowed].every((one) => placesOf(one).length === 0);
  }
  if (mode !== 'ipvs') return false;
  // Services that nobody serves have virtual servers, too, in the end: one that is only tried again later is taken for lost with the next
  // change.
  if (isQuiet && fate === 'untouched') return false;
  const places = placesOf(fate);
  // While virtual servers are written, some of the endpoints; in the end all of them.
  if (isQuiet && places.length > 0) return [...allowed].some((one) => endpointsOf(fate) === endpointsOf(one));
  const known = getOrMake(PLACES, allowed, () => new Set([...allowed].flatMap(placesOf)));
  return places.length > 0 ? places.every((place) => known.has(place)) : isAsUnanswered(fate, allowed);
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

/** With what becomes of the source, and without affinity. */
function endpointsOf(fate: Fate): string {
  return fate.split(';')[0]!;
}

function describe(places: ReadonlySet<string>, isSticky: boolean): Fate {
  return [...places].sort().join(', ') + (isSticky ? '; sticky' : '');
}
