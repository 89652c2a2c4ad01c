import { endpointPlace } from '../../../domain/model/endpoint.js';
import { getOrMake } from '../../../domain/model/maps.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import { isLoopback, LOCALHOST } from '../../../domain/net/address.js';
import type { Protocol } from '../../../domain/model/service-port-name.js';
import { cidrContains, parseCidr } from '../../../domain/net/cidr.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import {
  type Packet,
  type Step,
  type Trace,
  type TracedEndpoint,
  type TraceOutcome,
  type PacketPath,
  summaryOf,
} from '../../domain/trace/trace.js';
import type { TraceQuery } from '../../domain/trace/query.js';
import type { Tracer } from '../ports/tracer.js';
import { DesiredWalk, type Walk } from '../../domain/walk/desired-walk.js';
import { isLargeCluster } from '../../../domain/iptables/options.js';
import type { TraceAnswer } from './answer.js';
import type { Passage } from '../../../application/node/forwarding-obstacles.js';
import { NamedError } from '../../../domain/model/named-error.js';

/** What one family's packets meet. */
export interface TracedFamily {
  readonly network: NodeNetwork;
  readonly view: NodeView;
  readonly tracer: Tracer;
  /** The pod networks of this node. */
  readonly podCIDRs: readonly string[];
  entries(): Iterable<ForwardingEntry>;
}

/** What the proxy knows of where a packet goes, for people. */
export interface Destinations {
  /** Why the proxy itself has the packet rejected or dropped; undefined if it has not. */
  rejection(packet: Packet): string | undefined;
  /** Which endpoints get none of such packets although they are ready, and why. */
  ejected(packet: Packet): readonly string[];
}

/** An address that the node sends from. */
export interface OwnAddress {
  readonly text: string;
  /** Not known, as the routes of the node are not. */
  readonly isAssumed: boolean;
}

/** The node as packets meet it: its addresses, its interfaces and its routes. */
export interface NodeView {
  readonly localAddresses: ReadonlySet<string>;
  /** What is assumed instead of known, for people. Undefined if nothing is. */
  readonly assumption: string | undefined;
  /** The interface through which packets of that source come in. */
  arrival(source: string): Promise<string>;
  /** The address that the node puts on packets to a destination. Undefined: it has no route there. */
  ownAddressTowards(destination: string): Promise<OwnAddress | undefined>;
  /** Why the node itself does not pass packets on, or replies to them, for people; undefined if it does, as far as is known. */
  obstacle(passage: NodePassage): Promise<string | undefined>;
}

/** Packets that enter through a device and continue to an address. */
export type NodePassage = Omit<Passage, 'route'> & { readonly to: string };

const UNKNOWN: Destinations = { rejection: () => undefined, ejected: () => [] };

/** Rules as they should be, or as the kernel has them now. */
export type TracedRules = 'desired' | 'actual';

/** The packet cannot be followed here; the message says why. */
export class CannotTraceError extends NamedError {}

/**
 * Use case Trace: the verdicts for new connections. Changes nothing. An instance sees the entries as they are when it follows its
 * first packet; those that the desired rules are compiled from are looked through once.
 */
export class TracePackets {
  private readonly walks = new Map<IpFamily, Walk>();
  private nodePorts: ReadonlySet<string> | undefined;

  constructor(
    private readonly families: readonly TracedFamily[],
    private readonly destinations: Destinations = UNKNOWN,
  ) {}

  /**
   * Follows the first packet of a connection.
   * @param signal ends it early
   * @throws CannotTraceError if the family is not served here; what the tracer throws if the kernel's rules cannot be read
   */
  async trace(query: TraceQuery, rules: TracedRules, signal?: AbortSignal): Promise<TraceAnswer> {
    const { family } = query.to;
    const traced = this.families.find(({ network }) => network.family === family);
    if (!traced) throw new CannotTraceError(`this proxy does not serve ${family}`);
    const { view } = traced;
    const source = await sourceOf(query, traced);
    const packet: Packet = {
      family,
      inputInterface: source.inputInterface,
      source: source.text ?? '',
      destination: query.to.text,
      protocol: query.protocol,
      destinationPort: query.port,
    };
    const remarks = view.assumption === undefined ? source.remarks : [...source.remarks, view.assumption];
    if (source.text === undefined) {
      const trace = unsent(query);
      return { ...trace, packet, ...effectOf(trace), remarks };
    }
    const walk = rules === 'actual' ? await traced.tracer.actual(signal) : this.desired(traced);
    signal?.throwIfAborted();
    const walked = await walk.walk(packet, {
      localAddresses: view.localAddresses,
      deviceTowards: (address) => view.arrival(address),
    });
    const paths = await Promise.all(walked.map((path) => passedOn(path, packet, view)));
    const trace = this.delivered(await summary(paths, packet, view), packet, traced);
    const why = this.why(paths, trace, packet);
    const notes = [...remarks, ...this.destinations.ejected(packet), ...replyPathRemarks(trace, packet)];
    const endpoints = withPods(trace.endpoints, packet, traced.entries());
    return { ...trace, endpoints, packet, ...why, remarks: notes };
  }

  private desired({ tracer, network, entries }: TracedFamily): Walk {
    return getOrMake(this.walks, network.family, () => {
      const all = [...entries()];
      const isLarge = isLargeCluster(all);
      return new DesiredWalk(all, (concerned) => tracer.desired(concerned, network, isLarge));
    });
  }

  private why(paths: readonly PacketPath[], trace: Trace, packet: Packet): WhyNot {
    const end = paths.find(({ verdict }) => verdict === 'reject' || verdict === 'drop');
    // The machine itself may reject packets that no rule handles.
    if (!end) return trace.outcome === 'reject' || trace.outcome === 'drop' ? effectOf(trace) : {};
    const last = end.steps.at(-1);
    if (last?.foreign) return { reason: foreignText(last), stoppedBy: last };
    if (last?.hook === ROUTING) return { reason: last.effect, stoppedBy: last };
    const reason = this.destinations.rejection(packet);
    return reason === undefined ? {} : { reason };
  }

  /** What the machine itself does with a packet to one of its own addresses that no rule has taken. */
  private delivered(trace: Trace, packet: Packet, { network, view }: TracedFamily): Trace {
    const { family, destination, inputInterface } = packet;
    if (trace.outcome !== 'untouched') return trace;
    if (!isLoopback({ family, text: destination }))
      return view.localAddresses.has(destination) ? this.toProcess(trace, packet) : trace;
    if (inputInterface !== undefined)
      return ended(
        trace,
        'drop',
        'the kernel drops packets to loopback addresses that come from another machine or a pod',
      );
    return this.isRelayed(packet, network)
      ? ended(
          trace,
          'untouched',
          'goes to the proxy itself, which listens there if the Service has endpoints',
        )
      : this.toProcess(trace, packet);
  }

  private isRelayed(
    { family, destination, protocol, destinationPort }: Packet,
    network: NodeNetwork,
  ): boolean {
    return (
      network.loopbackNodePorts === 'relayed' &&
      protocol === 'TCP' &&
      destination === LOCALHOST[family] &&
      this.isNodePort(protocol, destinationPort)
    );
  }

  private toProcess(trace: Trace, { protocol, destinationPort }: Packet): Trace {
    return this.isNodePort(protocol, destinationPort)
      ? ended(
          trace,
          'reject',
          'a node port that this address does not serve: no process listens, so the kernel answers with an error',
        )
      : ended(trace, 'untouched', 'goes to the process that listens there, if there is one');
  }

  private isNodePort(protocol: Protocol, port: number): boolean {
    this.nodePorts ??= nodePortsOf(this.families);
    return this.nodePorts.has(`${protocol} ${port}`);
  }
}

/** What the node itself does with a packet that rules have let pass, on its way to another machine or a pod. */
async function passedOn(path: PacketPath, packet: Packet, view: NodeView): Promise<PacketPath> {
  const { family, inputInterface: input, destination } = packet;
  const { verdict, endpoint, ...rest } = path;
  const to = endpoint?.address ?? destination;
  const continues = verdict === 'forward' || verdict === 'untouched';
  if (input === undefined || !continues || view.localAddresses.has(to) || isLoopback({ family, text: to }))
    return path;
  const keepsSource = verdict === 'forward' && !path.masquerade;
  const obstacle = await view.obstacle({ family, input, to, keepsSource });
  if (obstacle === undefined) return path;
  return { ...rest, verdict: 'drop', steps: [...path.steps, routingStep(obstacle)] };
}

type WhyNot = Pick<TraceAnswer, 'reason' | 'stoppedBy'>;

function effectOf({ steps }: Trace): WhyNot {
  const last = steps.at(-1);
  return last ? { reason: last.effect } : {};
}

function foreignText({ where, rule, effect }: Step): string {
  return `a rule of another program, in ${where}: ${rule === '' ? effect : rule}`;
}

interface Source {
  /** Undefined: the node cannot send there. */
  readonly text: string | undefined;
  readonly inputInterface: string | undefined;
  readonly remarks: readonly string[];
}

async function sourceOf(
  { from, to }: TraceQuery,
  { view, network, podCIDRs }: TracedFamily,
): Promise<Source> {
  if (from.kind === 'node') {
    const own = await view.ownAddressTowards(to.text);
    return { text: own?.text, inputInterface: undefined, remarks: [] };
  }
  if (from.address) {
    const { text } = from.address;
    if (!view.localAddresses.has(text) && !isLoopback(from.address))
      return { text, inputInterface: await view.arrival(text), remarks: [] };
    return { text, inputInterface: undefined, remarks: [`${text} is an address of the node itself`] };
  }
  const { detector, serviceCIDRs } = network;
  const ranges = [...podCIDRs, ...serviceCIDRs].flatMap((range) => parseCidr(range) ?? []);
  if (detector?.kind === 'cidr') ranges.push(detector.cidr);
  const text = outsideAddress(
    to.family,
    (address) => view.localAddresses.has(address) || ranges.some((range) => cidrContains(range, address)),
  );
  const remark = `outside stands for ${text}, which is no address of the cluster`;
  return { text, inputInterface: await view.arrival(text), remarks: [remark] };
}

/** Masquerading changes nothing where the node sends from the same address anyway. */
async function summary(paths: readonly PacketPath[], packet: Packet, view: NodeView): Promise<Trace> {
  if (packet.inputInterface !== undefined) return summaryOf(paths, ({ masquerade }) => masquerade);
  const destinationOf = ({ endpoint }: PacketPath): string => endpoint?.address ?? packet.destination;
  const isFromLoopback = isLoopback({ family: packet.family, text: packet.source });
  const own = new Map<string, OwnAddress | undefined>();
  for (const path of paths) {
    const destination = destinationOf(path);
    if (path.masquerade && !own.has(destination))
      own.set(destination, await view.ownAddressTowards(destination));
  }
  return summaryOf(paths, (path) => {
    // No route leads from a loopback or a service address, so masquerading always changes them.
    if (!path.masquerade || isFromLoopback || path.source !== undefined) return path.masquerade;
    const address = own.get(destinationOf(path));
    return address?.isAssumed ? 'mixed' : address?.text !== packet.source;
  });
}

/** A program on a node without a route gets an error before any rule is met. */
function unsent({ to }: TraceQuery): Trace {
  return {
    outcome: 'reject',
    endpoints: [],
    sourceRewrite: 'never',
    sticky: false,
    steps: [routingStep(`no route to ${to.text}, so programs get an error immediately`)],
  };
}

function ended(trace: Trace, outcome: TraceOutcome, effect: string): Trace {
  return { ...trace, outcome, steps: [...trace.steps, routingStep(effect)] };
}

const ROUTING = 'routing';

/** What the node itself does with the packet, beside all rules. */
function routingStep(effect: string): Step {
  return { hook: ROUTING, where: 'this node', rule: '', effect };
}

/** Protocol and port of each. */
function nodePortsOf(families: readonly TracedFamily[]): ReadonlySet<string> {
  const entries = families.flatMap((family) => [...family.entries()]);
  const ofEntry = ({ name, frontends }: ForwardingEntry): readonly string[] =>
    frontends.flatMap(({ kind, port }) => (kind === 'node-port' ? `${name.protocol} ${port}` : []));
  return new Set(entries.flatMap(ofEntry));
}

/** The endpoints with their pods, nodes and zones, from the entries of the service ports that the packet may be for. */
function withPods(
  endpoints: readonly TracedEndpoint[],
  { protocol, destinationPort }: Packet,
  entries: Iterable<ForwardingEntry>,
): readonly TracedEndpoint[] {
  if (endpoints.length === 0) return endpoints;
  const wanted = new Map(endpoints.map((endpoint) => [endpointPlace(endpoint), endpoint]));
  for (const { name, frontends, endpoints: selection } of entries) {
    if (name.protocol !== protocol || !frontends.some(({ port }) => port === destinationPort)) continue;
    for (const endpoint of selection.reachable) {
      const place = endpointPlace(endpoint);
      const traced = wanted.get(place);
      const { pod, nodeName, zone } = endpoint;
      if (traced) wanted.set(place, { ...traced, pod, nodeName, zone });
    }
  }
  return [...wanted.values()];
}

/** How replies of the endpoints come back, for people. */
export function replyPathRemarks({ outcome, sourceRewrite }: Trace, packet: Packet): readonly string[] {
  if (outcome !== 'forward') return [];
  if (packet.inputInterface === undefined)
    return ['replies come back to this node, which gives them the address that was called'];
  switch (sourceRewrite) {
    case 'always':
      return [
        'the endpoint sees an address of this node, so its replies come back here, and are sent on to the client',
      ];
    case 'never':
      return [
        `the endpoint sees ${packet.source}; its replies must pass this node, which gives them the address that was called`,
      ];
    case 'mixed':
      return [
        `some endpoints see an address of this node and others ${packet.source}; replies must pass this node in both cases`,
      ];
  }
}

/** Of the ranges for documentation, in which no real machine is (RFC 5737, 3849, 9637). */
const CANDIDATES: Readonly<Record<IpFamily, readonly string[]>> = {
  IPv4: ['203.0.113.77', '198.51.100.77', '192.0.2.77'],
  IPv6: ['2001:db8:ffff::77', '3fff::77'],
};

/** An address outside the cluster. The first candidate if all are in the cluster, where documentation ranges do not belong. */
export function outsideAddress(family: IpFamily, isInCluster: (address: string) => boolean): string {
  const candidates = CANDIDATES[family];
  return candidates.find((candidate) => !isInCluster(candidate)) ?? candidates[0]!;
}
