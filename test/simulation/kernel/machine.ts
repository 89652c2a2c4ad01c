import { isDeepStrictEqual } from 'node:util';
import type { CLibrary } from '../../../src/adapters/process/c-library.js';
import type { ProgramsHost } from '../replaced/execa.js';
import { IptablesWalk } from '../walks/iptables-walk.js';
import { NfTablesWalk } from '../walks/nf-tables-walk.js';
import { NodeWalk } from '../walks/node-walk.js';
import type { PacketWalk } from '../walks/packet-walk.js';
import type { ProxyProcess } from '../world/proxy-process.js';
import { ADDRESSES } from '../world/settings.js';
import type { World } from '../world/world.js';
import { Accounting } from './accounting.js';
import { Connections } from './conntrack/connections.js';
import { ConntrackProtocol } from './conntrack/conntrack-protocol.js';
import { Generic } from './generic.js';
import { IpvsFamily } from './ipvs/ipvs-family.js';
import { VirtualServers } from './ipvs/virtual-servers.js';
import { mountConntrackFiles, mountKernelFiles } from './kernel-files.js';
import { Netfilter, SUBSYSTEM } from './netfilter.js';
import type { NetlinkProtocol } from './netlink/requests.js';
import { NfTables } from './nf-tables/nf-tables.js';
import { legacyGetsockopt } from './programs/legacy-info.js';
import { LockFiles } from './programs/xtables-lock.js';
import { Programs } from './programs/programs.js';
import { Links } from './route/links.js';
import { RouteProtocol } from './route/route-protocol.js';
import { Sockets } from './sockets.js';

/** NETLINK_…. */
const PROTOCOL = { ROUTE: 0, NETFILTER: 12, GENERIC: 16 } as const;
const XTABLES_LOCK = '/run/xtables.lock';
/** Milliseconds that a program takes for what it does. */
const PAUSES = { start: 2, work: 1, exit: 0.5 } as const;

const IPVS_DEVICE = 'kube-ipvs0';

interface KnownAddresses {
  /** Of the links. */
  readonly version: number;
  readonly all: ReadonlySet<string>;
  readonly own: ReadonlySet<string>;
  readonly ofServices: ReadonlySet<string>;
}

/** The kernel and the programs of the simulated node. They outlast the processes of the program. */
export class Machine {
  readonly programs: Programs;
  readonly connections: Connections;
  readonly nfTables: NfTables;
  readonly servers = new VirtualServers();
  readonly links = new Links();
  readonly walk: PacketWalk;
  /** How often something changed that packets may notice. */
  commits = 0;
  readonly sockets: Sockets;
  readonly conntrack: ConntrackProtocol;
  readonly routing: RouteProtocol;
  readonly accounting = new Accounting();
  readonly ipvs = new IpvsFamily(this.servers);
  /** Mode userspace: packets end in the process. */
  isProxying: boolean;
  private readonly locks = new LockFiles((_pid, descriptor) => this.lockOf(descriptor));
  /** What happens before a call of a process, counted down. */
  private waiting: { readonly pid: number; calls: number; readonly run: () => void } | undefined;
  private readonly listeners: (() => void)[] = [];
  /** What ends trouble that lasts for a while. */
  private readonly ends = new Set<() => void>();
  private knownAddresses: KnownAddresses | undefined;

  constructor(private readonly world: World) {
    mountKernelFiles(world);
    const { scheduler, settings } = world;
    this.isProxying = settings.mode === 'userspace';
    const protocols = new Map<number, NetlinkProtocol>();
    this.sockets = new Sockets({
      protocols,
      beforeCall: (pid) => this.beforeEach(pid),
      flock: (pid, descriptor, operation) => this.locks.flock(pid, descriptor, operation),
      getsockopt: (...asked) => legacyGetsockopt(this.programs, ...asked),
    });
    const time = {
      get now() {
        return scheduler.now;
      },
      after: (milliseconds: number, run: () => void) => scheduler.after(milliseconds, run, world.fate),
    };
    this.connections = new Connections(time);
    mountConntrackFiles(world, this.connections);
    this.conntrack = new ConntrackProtocol(
      this.connections,
      time,
      this.sockets.multicastOf(PROTOCOL.NETFILTER),
      !settings.kernel.startsWith('5.4'),
    );
    this.routing = new RouteProtocol(this.links, this.sockets.multicastOf(PROTOCOL.ROUTE));
    this.nfTables = new NfTables({
      now: () => scheduler.now,
      release: settings.kernel,
      multicast: this.sockets.multicastOf(PROTOCOL.NETFILTER),
      keptElsewhere: (family) => this.programs.nftChains(family),
    });
    // What iptables-nft writes is told of by the programs.
    this.nfTables.onCommit(({ changed }) => {
      if (changed.size > 0) this.changed();
    });
    const generic = new Generic();
    generic.load(this.ipvs);
    const subsystems = new Map<number, NetlinkProtocol>([
      [SUBSYSTEM.CTNETLINK, this.conntrack],
      [SUBSYSTEM.ACCOUNTING, this.accounting],
      [SUBSYSTEM.NFTABLES, this.nfTables],
    ]);
    protocols.set(PROTOCOL.NETFILTER, new Netfilter(subsystems));
    protocols.set(PROTOCOL.ROUTE, this.routing);
    protocols.set(PROTOCOL.GENERIC, generic);
    this.programs = new Programs({
      standard: settings.iptables,
      touch: ({ pid, name }) => this.nfTables.touch(pid, name),
    });
    // The kubelet's sign of which variant the node uses.
    for (const program of settings.families.map((family) => (family === 'IPv4' ? 'iptables' : 'ip6tables')))
      this.programs.run([`${program}-${settings.iptables}`, '-t', 'mangle', '-N', 'KUBE-IPTABLES-HINT']);
    for (const [family, name] of [
      ['IPv4', 'ip_tables_names'],
      ['IPv6', 'ip6_tables_names'],
    ] as const)
      world.files.mount(`/proc/net/${name}`, { read: () => this.programs.legacyTableNames(family) ?? '' });
    this.links.addLink({ name: 'eth0', kind: '' });
    for (const family of settings.families)
      this.links.addAddress('eth0', ADDRESSES[family].node, family === 'IPv4' ? 24 : 64);
    this.walk = new NodeWalk([new NfTablesWalk(this, () => scheduler.now), new IptablesWalk(this)]);
    this.accounting.onChange = () => {
      const { counters } = this.programs.traits;
      counters.clear();
      for (const name of this.accounting.objects.keys()) counters.add(name);
    };
    this.programs.onCommit(() => this.changed());
    this.programs.onSetChange(() => this.changed());
    this.servers.onChange = () => this.changed();
  }

  /** Which iptables counts. */
  get iptables() {
    return this.world.settings.iptables;
  }

  /** Its own addresses, without those that it has for mode ipvs only. The same object until they change. */
  get addresses(): ReadonlySet<string> {
    return this.presentAddresses.own;
  }

  /** All that its kernel takes for its own, those for mode ipvs among them. */
  get localAddresses(): ReadonlySet<string> {
    return this.presentAddresses.all;
  }

  /** Those that it has for mode ipvs only. */
  get serviceAddresses(): ReadonlySet<string> {
    return this.presentAddresses.ofServices;
  }

  private get presentAddresses(): KnownAddresses {
    const { links } = this;
    if (this.knownAddresses?.version !== links.version) {
      const addressesOf = (isOf: (device: string) => boolean) =>
        new Set([...links.addresses()].flatMap(({ device, address }) => (isOf(device.name) ? address : [])));
      const known = this.knownAddresses?.own;
      const own = addressesOf((device) => device !== IPVS_DEVICE);
      this.knownAddresses = {
        version: links.version,
        all: addressesOf(() => true),
        own: known && isDeepStrictEqual(known, own) ? known : own,
        ofServices: addressesOf((device) => device === IPVS_DEVICE),
      };
    }
    return this.knownAddresses;
  }

  /** Whether the process has a socket on this port. */
  hasSocketAt(protocol: string, port: number): boolean {
    const { network, datagramPorts, proxy } = this.world;
    return protocol === 'UDP' ? datagramPorts.isTaken(port) : network.isListening(proxy.life, port);
  }

  /** The C library of a process. */
  libraryOf(process: ProxyProcess): CLibrary {
    const { life, events } = process;
    const { scheduler } = this.world;
    life.onEnd(() => {
      this.sockets.end(life.pid);
      this.locks.ended(life.pid, this.programs.lock);
    });
    return this.sockets.libraryOf({
      pid: life.pid,
      isAlive: () => life.isAlive,
      soon: (run) => void scheduler.after(0.02, run, life),
      raise: (signal) => void scheduler.after(0.01, () => events.emit(signal, signal), life),
      exit: (code) => process.exited(code),
    });
  }

  /** What the process that acts now starts programs with. */
  hostOf({ life, children }: ProxyProcess): ProgramsHost {
    const { world, programs } = this;
    // A child may outlast its parent, who hears of it and does nothing any more.
    const after = (milliseconds: number, run: () => void) =>
      world.scheduler.after(
        milliseconds,
        () => {
          world.scheduler.owner = life;
          run();
        },
        world.fate,
      );
    return {
      programs,
      clock: { now: () => world.now, after, pauseOf: (kind) => PAUSES[kind] },
      nextPid: () => world.nextPid++,
      adopt(child) {
        children.push(child);
        life.onEnd(() => {
          if (world.random.isOneIn(2)) after(0, () => child.kill('SIGKILL'));
          else child.abandon();
        });
      },
    };
  }

  /** Runs something before a call of the process, after so many others. */
  beforeCall({ life }: ProxyProcess, calls: number, run: () => void): void {
    this.waiting = { pid: life.pid, calls, run };
  }

  /** Calls back after every change that packets may notice. */
  onCommit(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Calls what ends some trouble: after so many milliseconds, or when all trouble ends. */
  endAfter(milliseconds: number, end: () => void): void {
    const once = (): void => {
      if (this.ends.delete(once)) end();
    };
    this.ends.add(once);
    this.world.scheduler.after(milliseconds, once, this.world.fate);
  }

  /** Nothing is refused, lost or late any more. */
  endTrouble(): void {
    this.waiting = undefined;
    for (const end of this.ends) end();
    this.programs.faults.clear();
    this.nfTables.faults.clear();
    for (const part of [this.conntrack, this.routing, this.accounting, this.ipvs]) part.endTrouble();
  }

  private lockOf(descriptor: number) {
    try {
      return this.world.descriptors.pathOf(descriptor) === XTABLES_LOCK ? this.programs.lock : null;
    } catch {
      return undefined;
    }
  }

  private changed(): void {
    this.commits++;
    for (const listener of this.listeners) listener();
  }

  private beforeEach(pid: number): number {
    const { waiting } = this;
    if (waiting?.pid !== pid || waiting.calls-- > 0) return 0;
    this.waiting = undefined;
    waiting.run();
    return 0;
  }
}
