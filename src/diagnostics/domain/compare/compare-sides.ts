import { getOrMake } from '../../../domain/model/maps.js';
import { hostPort, isLoopback } from '../../../domain/net/address.js';
import {
  numberedAddress,
  without,
  intersection,
  rangeHas,
  type AddressRange,
  type AddressRanges,
} from './address-ranges.js';
import type { Packet, PacketEnvironment, PacketPath } from '../trace/trace.js';
import {
  Clients,
  type ClientKind,
  type ClientSpace,
  type ComparedNode,
  frontendsOf,
  type Frontend,
} from './clients.js';
import type { Side } from './side.js';
import { PROBABILITY_TOLERANCE } from '../walk/chain-walk.js';
import type { Watch } from '../walk/packet-state.js';

/** The verdicts for the packets of one class of clients, on both sides. */
export interface ComparedClass {
  readonly frontend: Frontend;
  readonly kind: ClientKind;
  /** One of its packets. */
  readonly packet: Packet;
  readonly result: 'equal' | 'different' | 'unknown';
  readonly sides: readonly [Outcome, Outcome];
  /** Of unknown ones: what is not understood, for people. */
  readonly unclear: readonly string[];
  /** Of later connections: where the client's first one went. */
  readonly remembered?: { readonly address: string; readonly port: number };
}

/** Beyond this, the classes of one frontend are not followed. */
const MAX_CLASSES = 4096;
/** Comes in through none of the interfaces that rules name. */
export const ANY_INTERFACE = '(any)';
/** Nothing from elsewhere comes in through it. */
const LOOPBACK_INTERFACE = 'lo';

/**
 * Compares what two sides do with the first packets of connections to everything that either names. The clients of a frontend are
 * divided into classes, of which all packets get the same answers of the rules on both sides, so that one of them stands for all.
 */
export function* compareSides(sides: readonly [Side, Side], node: ComparedNode): Generator<ComparedClass> {
  const clients = new Clients(node);
  const named = function* () {
    for (const side of sides) yield* side.destinations();
  };
  const comparison = new Comparison(sides, clients);
  for (const frontend of frontendsOf(named(), node.family, node.localAddresses))
    for (const space of clients.to(frontend)) yield* comparison.classes(frontend, space);
}

class Comparison {
  private readonly environment: PacketEnvironment;

  constructor(
    private readonly sides: readonly [Side, Side],
    private readonly clients: Clients,
  ) {
    this.environment = { localAddresses: clients.node.localAddresses };
  }

  /** Divides the clients until everyone is in a class. */
  *classes(frontend: Frontend, { sources, arrives }: ClientSpace): Generator<ComparedClass> {
    const { family } = this.clients.node;
    const interfaces = new Set([ANY_INTERFACE]);
    let count = 0;
    for (const inputInterface of interfaces) {
      let left = sources;
      while (left.length > 0) {
        const source = this.clients.oneOf(left);
        const packet: Packet = {
          family,
          inputInterface: arrives ? inputInterface : undefined,
          source: numberedAddress(source, family),
          destination: frontend.address,
          protocol: frontend.protocol,
          destinationPort: frontend.port,
        };
        if (arrives && this.isServiceAddress(packet.source)) {
          left = without(left, [{ first: source, last: source }]);
          continue;
        }
        const fields = new ComparedFields();
        if (++count > MAX_CLASSES) fields.unclear(`more than ${MAX_CLASSES} classes of clients`);
        yield* this.compared(frontend, this.clients.kindOf(source, arrives), packet, fields);
        if (count > MAX_CLASSES) return;
        left = without(left, fields.alike(source, left));
        if (arrives)
          for (const pattern of fields.interfaces)
            if (pattern !== LOOPBACK_INTERFACE) interfaces.add(namedBy(pattern));
      }
    }
  }

  /** Only the node sends from there, because it has the address. */
  private isServiceAddress(address: string): boolean {
    return this.sides.some(({ serviceAddresses }) => serviceAddresses.has(address));
  }

  /** The first connection of a client, and where it is remembered the next one. */
  private *compared(
    frontend: Frontend,
    kind: ClientKind,
    packet: Packet,
    fields: ComparedFields,
  ): Generator<ComparedClass> {
    const about = { frontend, kind, packet };
    const first = this.both((side) => this.outcome(side, packet, fields));
    const [one, other] = first;
    yield judged(about, first, fields);
    if (one.stickySeconds === undefined || other.stickySeconds === undefined) return;
    for (const both of rememberedIn(first)) {
      const later = this.both((side, at) => this.later(side, packet, first[at], both[at], fields));
      yield { ...judged(about, later, fields), remembered: both[0].endpoint! };
    }
  }

  private both(outcome: (side: Side, at: 0 | 1) => Outcome): readonly [Outcome, Outcome] {
    return [outcome(this.sides[0], 0), outcome(this.sides[1], 1)];
  }

  private outcome(
    side: Side,
    packet: Packet,
    fields: ComparedFields,
    remembered?: PacketEnvironment['remembered'],
  ): Outcome {
    const { localAddresses, family } = this.clients.node;
    const environment = remembered ? { localAddresses, remembered } : this.environment;
    const paths = side.walk(packet, environment, fields);
    for (const { steps } of paths)
      for (const { uncertain, where, rule, effect } of steps)
        if (uncertain) fields.unclear(`${where}: ${rule} ${effect}`);
    const { destination: text } = packet;
    const isLocal =
      localAddresses.has(text) || side.serviceAddresses.has(text) || isLoopback({ family, text });
    return outcomeOf(paths, isLocal, fields.takeTimes());
  }

  /** The verdict for the next connection of a client whose first one ended so. */
  private later(
    side: Side,
    packet: Packet,
    { stickySeconds = 0 }: Outcome,
    path: PacketPath,
    fields: ComparedFields,
  ): Outcome {
    if (path.memory) return this.outcome(side, packet, fields, path.memory);
    return outcomeOf([{ ...path, probability: 1 }], false, [stickySeconds]);
  }
}

function judged(
  about: Pick<ComparedClass, 'frontend' | 'kind' | 'packet'>,
  sides: readonly [Outcome, Outcome],
  { unclearThings }: ComparedFields,
): ComparedClass {
  const unclear = [...unclearThings];
  const result = unclear.length > 0 ? 'unknown' : sameOutcome(...sides) ? 'equal' : 'different';
  return { ...about, result, sides, unclear };
}

/** For each endpoint that both sides may remember a client with, a path of each that does so. */
function rememberedIn([one, other]: readonly [Outcome, Outcome]): readonly (readonly [
  PacketPath,
  PacketPath,
])[] {
  const its = stickyPaths(other);
  return [...stickyPaths(one)].flatMap(([name, path]) => {
    const same = its.get(name);
    return same ? [[path, same] as const] : [];
  });
}

function stickyPaths({ paths }: Outcome): ReadonlyMap<string, PacketPath> {
  const found = new Map<string, PacketPath>();
  for (const path of paths)
    if (path.sticky && path.endpoint)
      getOrMake(found, hostPort(path.endpoint.address, path.endpoint.port), () => path);
  return found;
}

/** An interface that the pattern names, and if possible no other pattern. */
function namedBy(pattern: string): string {
  return pattern.endsWith('+') ? `${pattern.slice(0, -1)}~` : pattern;
}

/** One thing that may become of a packet. */
export interface Verdict {
  /** `delivered`: no rule took it, and its destination is the node's own. */
  readonly verdict: PacketPath['verdict'] | 'delivered';
  readonly endpoint?: { readonly address: string; readonly port: number };
  readonly masquerade: boolean;
  /** Its client is remembered, and comes to the same endpoint again. */
  readonly sticky: boolean;
  readonly probability: number;
}

/** All that may become of a packet on one side. */
export interface Outcome {
  /** Different from each other, in an order of their own. */
  readonly verdicts: readonly Verdict[];
  /** For how long the client is remembered, in seconds; undefined if it is not. */
  readonly stickySeconds: number | undefined;
  readonly paths: readonly PacketPath[];
}

function outcomeOf(paths: readonly PacketPath[], isLocal: boolean, affinity: readonly number[]): Outcome {
  const verdicts = new Map<string, Verdict>();
  for (const path of paths) {
    const verdict = verdictOf(path, isLocal);
    const text = verdictName(verdict);
    const known = verdicts.get(text)?.probability ?? 0;
    verdicts.set(text, { ...verdict, probability: known + path.probability });
  }
  return {
    verdicts: [...verdicts].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, verdict]) => verdict),
    stickySeconds: paths.some(({ sticky }) => sticky) ? Math.max(0, ...affinity) : undefined,
    paths,
  };
}

function verdictOf(
  { verdict, endpoint, masquerade, sticky, probability }: PacketPath,
  isLocal: boolean,
): Verdict {
  if (verdict === 'forward') return { verdict, endpoint: endpoint!, masquerade, sticky, probability };
  const rest = { sticky: false, probability };
  if (verdict !== 'untouched') return { verdict, masquerade: false, ...rest };
  return { verdict: isLocal ? 'delivered' : verdict, masquerade: masquerade && !isLocal, ...rest };
}

/** Identifies a verdict, independent of its probability. */
export function verdictName({ verdict, endpoint, masquerade, sticky }: Verdict): string {
  return `${verdict} ${endpoint ? hostPort(endpoint.address, endpoint.port) : ''} ${masquerade} ${sticky}`;
}

function sameOutcome(one: Outcome, other: Outcome): boolean {
  return (
    one.stickySeconds === other.stickySeconds &&
    one.verdicts.length === other.verdicts.length &&
    one.verdicts.every((verdict, at) => isSame(verdict, other.verdicts[at]!))
  );
}

function isSame(one: Verdict, other: Verdict): boolean {
  const [p, q] = [one.probability, other.probability];
  return (
    one.verdict === other.verdict &&
    one.endpoint?.address === other.endpoint?.address &&
    one.endpoint?.port === other.endpoint?.port &&
    one.masquerade === other.masquerade &&
    one.sticky === other.sticky &&
    Math.abs(p - q) <= PROBABILITY_TOLERANCE
  );
}

/** What rules of both sides compared of one packet. */
class ComparedFields implements Watch {
  readonly unclearThings = new Set<string>();
  readonly interfaces = new Set<string>();
  private readonly ranges = new Set<AddressRange>();
  private times = new Set<number>();

  source(range: AddressRange): void {
    this.ranges.add(range);
  }

  inputInterface(pattern: string): void {
    this.interfaces.add(pattern);
  }

  unclear(what: string): void {
    this.unclearThings.add(what);
  }

  affinity(seconds: number): void {
    this.times.add(seconds);
  }

  /** The times since this was asked the last time. */
  takeTimes(): readonly number[] {
    const times = [...this.times];
    this.times = new Set();
    return times;
  }

  /** Those of the sources that got the same answers everywhere as this one. */
  alike(source: bigint, sources: AddressRanges): AddressRanges {
    let alike = sources;
    for (const range of this.ranges)
      alike = rangeHas(range, source) ? intersection(alike, [range]) : without(alike, [range]);
    return alike;
  }
}
