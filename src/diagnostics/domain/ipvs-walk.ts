import { servicePortText } from '../../domain/reconcile/rule-difference.js';
import type { IpSet } from '../../domain/ipvs/ip-set.js';
import type { DeviceTowards } from './walk/on-demand.js';
import type { PacketState } from './walk/packet-state.js';
import type { RuleSource } from './iptables/rule.js';
import { walkTables } from './iptables/tables-walk.js';
import { getOrMake } from '../../domain/model/maps.js';
import type { Packet, PacketEnvironment, PacketPath } from './trace/trace.js';
import { type Watch, shareOf, withStep, type Place } from './walk/packet-state.js';
import {
  HASH_SOURCE_PORT,
  PERSISTENT,
  type RealServer,
  type VirtualServer,
  type VirtualServerId,
  serverLine,
} from '../../domain/ipvs/virtual-server.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import { sendsTo, shareText } from './walk/chain-walk.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { IptablesHost } from '../../domain/iptables/options.js';
import { compileIpvs, type IpvsOptions } from '../../domain/ipvs/compile.js';
import {
  IpvsDesiredState,
  type IpvsDesiredTables,
  ipvsDesiredTables,
} from '../../domain/ipvs/desired-state.js';

/** What packets meet in IPVS mode in one family: as desired, or as the kernel has it. */
export interface IpvsInputs {
  readonly rules: RuleSource;
  /** By name. */
  readonly sets: ReadonlyMap<string, IpSet>;
  readonly server: FindServer;
  /** The service addresses that the node has, so that packets to them are its own. */
  readonly addresses: ReadonlySet<string>;
}

/** By both sets: there may be very many service addresses, and packets. */
const BOTH = new WeakMap<ReadonlySet<string>, WeakMap<ReadonlySet<string>, ReadonlySet<string>>>();

function bothOf(own: ReadonlySet<string>, ofServices: ReadonlySet<string>): ReadonlySet<string> {
  const known = getOrMake(BOTH, own, () => new WeakMap<ReadonlySet<string>, ReadonlySet<string>>());
  return getOrMake(known, ofServices, () => new Set([...own, ...ofServices]));
}

/**
 * Sends a packet, the first of its connection, through tables and virtual servers, and returns every possible path. Which real
 * server gets it depends on the connections that there are; the probabilities are those of the long run.
 */
export function walkIpvs(
  { rules, sets, server, addresses }: IpvsInputs,
  packet: Packet,
  environment: PacketEnvironment,
  devices?: DeviceTowards,
  watch?: Watch,
): readonly PacketPath[] {
  const { inputInterface, destination } = packet;
  // To an address of its own the node sends with that address as the source.
  const isToOwn = inputInterface === undefined && addresses.has(destination);
  const sent = isToOwn ? { ...packet, source: destination } : packet;
  const localAddresses = bothOf(environment.localAddresses, addresses);
  const paths = walkTables(
    rules,
    sent,
    { ...environment, localAddresses },
    {
      sets,
      devices,
      watch,
      balancer: (state) => balanced(server, state, watch),
    },
  );
  return isToOwn ? paths.map((path) => ({ ...path, source: destination })) : paths;
}

/** A real server, and the share of new connections that it gets. */
export interface Share {
  readonly realServer: RealServer;
  readonly share: number;
}

/** Schedulers that look at weights only to leave out real servers that have none. */
const UNWEIGHTED: ReadonlySet<string> = new Set(['rr', 'lc', 'lblc', 'lblcr', 'dh', 'nq']);
/** Those that choose by a hash of the client's address. */
const BY_CLIENT: ReadonlySet<string> = new Set(['sh', 'mh']);

/** How connections are shared out in the long run, whatever load there is now. One of weight 0 gets no new connections. */
function sharesOf({ scheduler }: VirtualServer, realServers: readonly RealServer[]): readonly Share[] {
  const used = realServers.filter(({ weight }) => weight > 0);
  const weightOf = ({ weight }: RealServer) => (UNWEIGHTED.has(scheduler) ? 1 : weight);
  const total = used.reduce((sum, each) => sum + weightOf(each), 0);
  return used.map((realServer) => ({ realServer, share: weightOf(realServer) / total }));
}

/** Whether a client's next connection goes to the same real server. */
function isSticky({ scheduler, flags }: VirtualServer): boolean {
  if ((flags & PERSISTENT) !== 0 || scheduler === 'dh') return true;
  return BY_CLIENT.has(scheduler) && (flags & HASH_SOURCE_PORT) === 0;
}

/** A virtual server to walk through. */
export interface WalkedServer {
  readonly server: VirtualServer;
  readonly realServers: readonly RealServer[];
  /** Unknown for what was read from the kernel. */
  readonly servicePort?: ServicePortKey;
}

/** Finds a virtual server; undefined when there is none. */
export type FindServer = (id: VirtualServerId) => WalkedServer | undefined;

/** What IPVS makes of a packet that comes to it on its way through the tables. */
function balanced(find: FindServer, state: PacketState, watch?: Watch): readonly PacketState[] {
  const { destination: address, packet } = state;
  const at = (port: number) => find({ address, port, protocol: packet.protocol });
  // One for the port, else one for all ports of the address.
  const found = at(state.port) ?? at(0);
  if (!found) return [state];
  const shares = sharesOf(found.server, found.realServers);
  if (isSticky(found.server)) watch?.affinity(found.server.persistenceSeconds);
  if (shares.length > 0) return shares.map((share) => sentOn(state, found, share));
  const why = found.realServers.length === 0 ? 'it has no real server' : 'all its real servers have weight 0';
  return [withStep(state.with({ verdict: 'reject' }), placeOf(found), `rejected: ${why}`)];
}

function sentOn(
  state: PacketState,
  found: WalkedServer,
  { realServer: { address, port: realPort }, share }: Share,
): PacketState {
  const { server } = found;
  const port = realPort === 0 ? state.port : realPort;
  const chosen = share < 1 ? `, ${shareText(share)} (${server.scheduler})` : '';
  const told = withStep(shareOf(state, share), placeOf(found), `${sendsTo(address, port)}${chosen}`);
  return told.with({
    destination: address,
    port,
    virtualServer: { address: server.address, port: state.port },
    isSticky: isSticky(server),
  });
}

function placeOf({ server, servicePort }: WalkedServer): Place {
  return {
    where: 'ipvs',
    get rule() {
      return serverLine(server);
    },
    ...(servicePort !== undefined && { servicePort: servicePortText(servicePort) }),
  };
}

/** What IPVS mode would write for these entries. */
export function desiredIpvs(
  entries: Iterable<ForwardingEntry>,
  node: NodeNetwork,
  host: Pick<IptablesHost, 'randomFully'>,
  options: Omit<IpvsOptions, 'node'>,
): IpvsDesiredTables {
  const desired = new IpvsDesiredState();
  for (const entry of entries) desired.replace(entry.key, compileIpvs(entry, { ...options, node }));
  return ipvsDesiredTables(desired, node, host);
}
