import { NO_PROCESS, type Change } from '../change.js';
import { EEXIST, EINVAL, ENOENT, ERANGE, ESRCH } from '../netlink/numbers.js';
import { canBeDestination } from './destination-address.js';
import {
  destinationKey,
  serverKey,
  type Destination,
  type DestinationSettings,
  type ServerId,
  type ServerSettings,
  type Timeouts,
  type VirtualServer,
} from './virtual-server.js';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type KeptDestination = Mutable<Destination>;
interface KeptServer extends Mutable<ServerId & ServerSettings> {
  destinations: Map<string, KeptDestination>;
  /** Another one after each change. */
  revision: number;
}

/** What identifies a destination and can be changed about it. */
export type NewDestination = Pick<Destination, 'family' | 'address' | 'port'> & DestinationSettings;

const USUAL_SCHEDULERS = [
  'rr',
  'wrr',
  'lc',
  'wlc',
  'fo',
  'ovf',
  'lblc',
  'lblcr',
  'dh',
  'sh',
  'mh',
  'sed',
  'nq',
  'twos',
];
const MAX_SECONDS = 0x7fff_ffff;

/** The virtual servers of a machine. Methods that change something return an errno, 0 when it was done. */
export class VirtualServers {
  /** That the kernel has, or can load. */
  readonly schedulers = new Set(USUAL_SCHEDULERS);
  /** Told after each change. */
  onChange: (change: Change) => void = () => {};
  /** Of the lists of servers and destinations. */
  version = 0;
  private readonly servers = new Map<string, KeptServer>();
  /** Removed destinations that still have connections, by both keys. One that is added again is the same. */
  private readonly removed = new Map<string, KeptDestination>();
  private kept: Timeouts = { tcp: 900, tcpFin: 120, udp: 300 };

  /** All of them as they are now, by `serverKey`. Not a copy. */
  view(): ReadonlyMap<string, VirtualServer> {
    return this.servers;
  }

  get timeouts(): Timeouts {
    return this.kept;
  }

  find(id: ServerId): VirtualServer | undefined {
    return this.servers.get(serverKey(id));
  }

  /** Another one after each change of the server or its destinations; undefined: there is none. */
  revisionOf(id: ServerId): number | undefined {
    return this.servers.get(serverKey(id))?.revision;
  }

  add(id: ServerId, settings: ServerSettings, process = NO_PROCESS): number {
    const key = serverKey(id);
    if (this.servers.has(key)) return EEXIST;
    const problem = this.problemOf(id, settings);
    if (problem !== 0) return problem;
    this.servers.set(key, { ...id, ...settings, destinations: new Map(), revision: this.version });
    return this.done(process);
  }

  set(id: ServerId, settings: ServerSettings, process = NO_PROCESS): number {
    const server = this.servers.get(serverKey(id));
    if (!server) return ESRCH;
    const problem = this.problemOf(id, settings);
    if (problem !== 0) return problem;
    Object.assign(server, settings, { revision: this.version });
    return this.done(process);
  }

  delete(id: ServerId, process = NO_PROCESS): number {
    const key = serverKey(id);
    const server = this.servers.get(key);
    if (!server) return ESRCH;
    for (const [destination, kept] of server.destinations) this.retire(key, destination, kept);
    this.servers.delete(key);
    return this.done(process);
  }

  addDestination(id: ServerId, destination: NewDestination, process = NO_PROCESS): number {
    const server = this.servers.get(serverKey(id));
    if (!server) return ESRCH;
    const { destinations } = server;
    const problem = problemOfDestination(destination);
    if (problem !== 0) return problem;
    const key = destinationKey(destination);
    if (destinations.has(key)) return EEXIST;
    if (!canBeDestination(destination.address)) return EINVAL;
    const { activeConnections = 0, inactiveConnections = 0 } =
      this.removed.get(`${serverKey(id)} ${key}`) ?? {};
    this.removed.delete(`${serverKey(id)} ${key}`);
    destinations.set(key, { ...destination, activeConnections, inactiveConnections });
    server.revision = this.version;
    return this.done(process);
  }

  setDestination(id: ServerId, destination: NewDestination, process = NO_PROCESS): number {
    const server = this.servers.get(serverKey(id));
    if (!server) return ESRCH;
    const { destinations } = server;
    const problem = problemOfDestination(destination);
    if (problem !== 0) return problem;
    const kept = destinations.get(destinationKey(destination));
    if (!kept) return ENOENT;
    Object.assign(kept, destination);
    server.revision = this.version;
    return this.done(process);
  }

  deleteDestination(id: ServerId, of: Pick<Destination, 'address' | 'port'>, process = NO_PROCESS): number {
    const server = this.servers.get(serverKey(id));
    if (!server) return ESRCH;
    const { destinations } = server;
    const key = destinationKey(of);
    const kept = destinations.get(key);
    if (!kept) return ENOENT;
    this.retire(serverKey(id), key, kept);
    destinations.delete(key);
    server.revision = this.version;
    return this.done(process);
  }

  /**
   * Clients of a destination come and go; of one that was removed, too.
   * @returns false if it never was, or has been gone since its last client went
   */
  countConnections(
    id: ServerId,
    of: Pick<Destination, 'address' | 'port'>,
    counts: Partial<Pick<Destination, 'activeConnections' | 'inactiveConnections'>>,
  ): boolean {
    const [server, key] = [serverKey(id), destinationKey(of)];
    const removed = this.removed.get(`${server} ${key}`);
    const kept = this.servers.get(server)?.destinations.get(key) ?? removed;
    if (!kept) return false;
    Object.assign(kept, counts);
    if (removed === kept && kept.activeConnections + kept.inactiveConnections === 0)
      this.removed.delete(`${server} ${key}`);
    return true;
  }

  flush(process = NO_PROCESS): number {
    if (this.servers.size === 0) return 0;
    for (const [key, { destinations }] of this.servers)
      for (const [destination, kept] of destinations) this.retire(key, destination, kept);
    this.servers.clear();
    return this.done(process);
  }

  /** Seconds; 0 leaves one as it is. */
  setTimeouts({ tcp = 0, tcpFin = 0, udp = 0 }: Partial<Timeouts>, process = NO_PROCESS): number {
    if (Math.max(tcp, tcpFin, udp) > MAX_SECONDS) return EINVAL;
    const { kept } = this;
    this.kept = { tcp: tcp || kept.tcp, tcpFin: tcpFin || kept.tcpFin, udp: udp || kept.udp };
    return this.done(process);
  }

  private problemOf({ address }: ServerId, { scheduler, netmask }: ServerSettings): number {
    if (scheduler !== 'none' && !this.schedulers.has(scheduler)) return ENOENT;
    return address.includes(':') && (netmask < 1 || netmask > 128) ? EINVAL : 0;
  }

  private retire(server: string, destination: string, kept: KeptDestination): void {
    if (kept.activeConnections + kept.inactiveConnections > 0)
      this.removed.set(`${server} ${destination}`, kept);
  }

  private done(process: number): number {
    this.version++;
    this.onChange({ process });
    return 0;
  }
}

function problemOfDestination({ weight, upperThreshold, lowerThreshold }: DestinationSettings): number {
  return weight < 0 || lowerThreshold > upperThreshold ? ERANGE : 0;
}
