import { NO_PROCESS, type Change } from '../change.js';
import { E } from '../netlink/numbers.js';
import {
  destinationKey,
  serverKey,
  type Destination,
  type NewDestination,
  type ServerId,
  type ServerSettings,
  type VirtualServer,
} from './virtual-server.js';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type KeptDestination = Mutable<Destination>;
interface KeptServer extends Mutable<ServerId & ServerSettings> {
  destinations: Map<string, KeptDestination>;
}

/** Of the kernel, some of which it loads when they are asked for. */
const SCHEDULERS: ReadonlySet<string> = new Set(
  'none rr wrr lc wlc fo ovf lblc lblcr dh sh mh sed nq twos'.split(' '),
);

/** The virtual servers of a machine. Methods that change something return an errno, 0 when it was done. */
export class VirtualServers {
  /** Told after each change. */
  onChange: (change: Change) => void = () => {};
  /** Told of each destination that is deleted while it has connections, and its server is not. */
  onRetire: (server: VirtualServer, destination: Destination, process: number) => void = () => {};
  /** Of the lists of servers and destinations. */
  version = 0;
  private readonly servers = new Map<string, KeptServer>();
  /** Removed destinations that still have connections, by both keys. One that is added again is the same. */
  private readonly removed = new Map<string, KeptDestination>();

  /** All of them as they are now, by `serverKey`. Not a copy. */
  view(): ReadonlyMap<string, VirtualServer> {
    return this.servers;
  }

  find(id: ServerId): VirtualServer | undefined {
    return this.servers.get(serverKey(id));
  }

  add(id: ServerId, settings: ServerSettings, process = NO_PROCESS): number {
    if (this.find(id)) return E.EEXIST;
    if (!SCHEDULERS.has(settings.scheduler)) return E.ENOENT;
    this.servers.set(serverKey(id), { ...id, ...settings, destinations: new Map() });
    return this.done(process);
  }

  set(id: ServerId, settings: ServerSettings, process = NO_PROCESS): number {
    return this.change(id, process, (server) => {
      if (!SCHEDULERS.has(settings.scheduler)) return E.ENOENT;
      Object.assign(server, settings);
      return 0;
    });
  }

  delete(id: ServerId, process = NO_PROCESS): number {
    return this.change(id, process, (server) => {
      for (const kept of server.destinations.values()) this.retire(id, kept);
      this.servers.delete(serverKey(id));
      return 0;
    });
  }

  addDestination(id: ServerId, destination: NewDestination, process = NO_PROCESS): number {
    return this.change(id, process, ({ destinations }) => {
      const key = destinationKey(destination);
      if (destination.weight < 0) return E.ERANGE;
      if (destinations.has(key)) return E.EEXIST;
      if (!canBeDestination(destination.address)) return E.EINVAL;
      const removed = this.removed.get(`${serverKey(id)} ${key}`);
      const { activeConnections = 0, inactiveConnections = 0 } = removed ?? {};
      this.removed.delete(`${serverKey(id)} ${key}`);
      destinations.set(key, { ...destination, activeConnections, inactiveConnections });
      return 0;
    });
  }

  setDestination(id: ServerId, destination: NewDestination, process = NO_PROCESS): number {
    return this.change(id, process, ({ destinations }) => {
      const kept = destinations.get(destinationKey(destination));
      if (destination.weight < 0) return E.ERANGE;
      if (!kept) return E.ENOENT;
      Object.assign(kept, destination);
      return 0;
    });
  }

  deleteDestination(id: ServerId, of: Pick<Destination, 'address' | 'port'>, process = NO_PROCESS): number {
    return this.change(id, process, (server) => {
      const { destinations } = server;
      const kept = destinations.get(destinationKey(of));
      if (!kept) return E.ENOENT;
      if (kept.activeConnections + kept.inactiveConnections > 0) this.onRetire(server, kept, process);
      this.retire(id, kept);
      destinations.delete(destinationKey(of));
      return 0;
    });
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
    if (removed === kept && !hasConnections(kept)) this.removed.delete(`${server} ${key}`);
    return true;
  }

  flush(process = NO_PROCESS): number {
    if (this.servers.size === 0) return 0;
    for (const server of this.servers.values())
      for (const kept of server.destinations.values()) this.retire(server, kept);
    this.servers.clear();
    return this.done(process);
  }

  /** @param act returns an errno */
  private change(id: ServerId, process: number, act: (server: KeptServer) => number): number {
    const server = this.servers.get(serverKey(id));
    if (!server) return E.ESRCH;
    const errno = act(server);
    return errno === 0 ? this.done(process) : errno;
  }

  private retire(server: ServerId, kept: KeptDestination): void {
    if (hasConnections(kept)) this.removed.set(`${serverKey(server)} ${destinationKey(kept)}`, kept);
  }

  private done(process: number): 0 {
    this.version++;
    this.onChange({ process });
    return 0;
  }
}

function hasConnections({ activeConnections, inactiveConnections }: Destination): boolean {
  return activeConnections + inactiveConnections > 0;
}

/** What the kernel takes for a destination that rewrites packets: no multicast, broadcast or link-local address. */
function canBeDestination(address: string): boolean {
  if (address.includes(':')) return address !== '::' && !/^(ff|fe[89ab])/.test(address);
  const first = Number(address.split('.', 1)[0]);
  return first > 0 && first < 224;
}
