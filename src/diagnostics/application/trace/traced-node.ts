import type { Node } from '../../../domain/model/node.js';
import type {
  LocalAddresses,
  PacketForwarding,
  Routes,
  Route,
} from '../../../application/ports/node/network.js';
import {
  TracePackets,
  type Destinations,
  type NodePassage,
  type NodeView,
  type OwnAddress,
  type TracedFamily,
} from './trace-packets.js';
import { passageObstacle } from '../../../application/node/forwarding-obstacles.js';
import { cidrContains, firstHost, parseCidr, type Cidr } from '../../../domain/net/cidr.js';
import { isLoopback, LOCALHOST, parseAddress } from '../../../domain/net/address.js';

/** The node whose packets are followed, and the machine that follows them. */
export interface TracedNode {
  /** Undefined if the source has no Node object: then the node is this machine. */
  readonly node: Node | undefined;
  /** Of this machine. */
  readonly addresses: Pick<LocalAddresses, 'list'>;
  readonly routes: Pick<Routes, 'to'>;
  /** Missing: packets pass through a process instead of being forwarded. */
  readonly forwarding?: PacketForwarding | undefined;
}

/** Whether this machine is the node: it has one of the node's addresses. */
function isThisMachine(node: Node, addresses: readonly string[]): boolean {
  return node.ips.some(({ text }) => addresses.includes(text));
}

/** What decides about the packets of one family. */
export type FamilyRules = Omit<TracedFamily, 'view' | 'podCIDRs'>;

/** The use case for a node, with its families. */
export function tracePackets(
  traced: TracedNode,
  families: readonly FamilyRules[],
  destinations?: Destinations,
): TracePackets {
  const podCIDRs = traced.node?.podCIDRs ?? [];
  return new TracePackets(
    families.map((rules) => ({ ...rules, podCIDRs, view: viewOf(traced, rules) })),
    destinations,
  );
}

function viewOf({ node, addresses, routes, forwarding }: TracedNode, rules: FamilyRules): NodeView {
  const own = addresses.list();
  if (!node || isThisMachine(node, own))
    return new MachineView(new Set([...own, '127.0.0.1', '::1']), routes, forwarding);
  return new AssumedNode(node, rules);
}

/** The addresses of the node: this machine's, or those that are assumed where it is another one. */
export class TracedAddresses implements LocalAddresses {
  constructor(
    private readonly machine: LocalAddresses,
    private readonly node: () => Node | undefined,
  ) {}

  list(): readonly string[] {
    const own = this.machine.list();
    const node = this.node();
    return !node || isThisMachine(node, own) ? own : [...new AssumedNode(node).localAddresses];
  }

  close(): void {
    this.machine.close?.();
  }
}

/** Made up: packets of a source that the machine has no route to. */
const UNKNOWN_DEVICE = '(unknown)';

/** The node is this machine, whose routes are read once each. */
export class MachineView implements NodeView {
  readonly assumption = undefined;
  private readonly known = new Map<string, Promise<Route | undefined>>();

  constructor(
    readonly localAddresses: ReadonlySet<string>,
    private readonly routes: Pick<Routes, 'to'>,
    /** Missing: packets pass through a process instead of being forwarded. */
    private readonly forwarding?: PacketForwarding,
  ) {}

  /** Packets come in where packets to their source go out. */
  async arrival(source: string): Promise<string> {
    return (await this.routeTo(source))?.device ?? UNKNOWN_DEVICE;
  }

  async ownAddressTowards(destination: string): Promise<OwnAddress | undefined> {
    const route = await this.routeTo(destination);
    return route && { text: route.source, isAssumed: false };
  }

  async obstacle({ to, ...passage }: NodePassage): Promise<string | undefined> {
    return this.forwarding && passageObstacle(this.forwarding, { ...passage, route: await this.routeTo(to) });
  }

  private routeTo(address: string): Promise<Route | undefined> {
    const known = this.known.get(address) ?? this.routes.to(address);
    this.known.set(address, known);
    return known;
  }
}

/** Made up, which the parentheses show: no name of an interface has any that a rule could look for. */
const POD_INTERFACE = '(pods)';
const OUTSIDE_INTERFACE = '(outside)';

/**
 * The node is another machine, of which only its objects are known. Its addresses are those that the Node object names, and the first
 * of each of its pod networks, which is the node's own in most of them.
 */
export class AssumedNode implements NodeView {
  readonly assumption =
    'this machine is not the node, so its addresses, interfaces and routes are assumed from its Node object';
  readonly localAddresses: ReadonlySet<string>;
  private readonly podNetworks: readonly Cidr[];
  private localEndpoints: ReadonlySet<string> | undefined;

  /** @param rules what decides about packets; missing: only the addresses of the node are needed */
  constructor(
    private readonly node: Node,
    private readonly rules?: Pick<FamilyRules, 'network' | 'entries'>,
  ) {
    this.podNetworks = node.podCIDRs.flatMap((text) => parseCidr(text) ?? []);
    this.localAddresses = new Set([
      ...[...node.ips, ...(node.furtherAddresses ?? [])].map(({ text }) => text),
      ...this.podNetworks.map(firstHost),
      '127.0.0.1',
      '::1',
    ]);
  }

  /** Those of this node's pods come in as the detector of local traffic expects them. */
  arrival(source: string): Promise<string> {
    this.localEndpoints ??= new Set(
      [...(this.rules?.entries() ?? [])].flatMap((entry) =>
        entry.localEndpoints.map(({ address }) => address),
      ),
    );
    const isPod =
      this.localEndpoints.has(source) || this.podNetworks.some((network) => cidrContains(network, source));
    const detector = this.rules?.network.detector;
    const pods = detector?.kind === 'interface' ? detector.name : POD_INTERFACE;
    return Promise.resolve(isPod ? pods : OUTSIDE_INTERFACE);
  }

  obstacle(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /** The likeliest: the destination itself if it is the node's own. */
  ownAddressTowards(destination: string): Promise<OwnAddress | undefined> {
    const { family, text } = parseAddress(destination)!;
    if (isLoopback({ family, text })) return Promise.resolve({ text: LOCALHOST[family], isAssumed: false });
    const own = this.localAddresses.has(destination)
      ? destination
      : this.node.ips.find((ip) => ip.family === family)?.text;
    return Promise.resolve(own === undefined ? undefined : { text: own, isAssumed: true });
  }
}
