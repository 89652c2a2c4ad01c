import { serverAt, type VirtualServer } from '../kernel/ipvs/virtual-server.js';
import type { Machine } from '../kernel/machine.js';
import type { Rule } from '../kernel/programs/rules/rule.js';
import type { TableSet } from '../kernel/programs/tables/table-set.js';
import { meaningOf, type Flight, type Surroundings } from './iptables-rule.js';
import { LEFT_ALONE, type Packet, type PacketPath, type PacketWalk } from './packet-walk.js';

type Hook = Flight['hook'];
type Then = (flight: Flight) => void;
type Verdict = 'accept' | 'drop' | 'reject';
type End = (flight: Flight, verdict: Verdict) => void;

/** In the order in which packets meet them. IPVS sees those to this node before they are translated, those of this node after that. */
const TABLES: Readonly<Record<Hook, readonly string[]>> = {
  PREROUTING: ['raw', 'mangle', 'nat'],
  INPUT: ['mangle', 'filter', 'security', 'ipvs', 'nat'],
  FORWARD: ['mangle', 'filter', 'security'],
  OUTPUT: ['raw', 'mangle', 'nat', 'ipvs', 'filter', 'security'],
  POSTROUTING: ['mangle', 'nat'],
};
/** Schedulers that look at weights only to leave out real servers that have none. */
const UNWEIGHTED: ReadonlySet<string> = new Set(['rr', 'lc', 'lblc', 'lblcr', 'dh', 'nq']);
const BY_CLIENT: ReadonlySet<string> = new Set(['sh', 'mh']);
/** IP_VS_SVC_F_… */
const [PERSISTENT, HASH_SOURCE_PORT] = [1, 0x10];

/** What is left of a chain when a jump returns to it. */
interface Frame {
  readonly rules: readonly Rule[];
  readonly at: number;
  readonly before: Frame | undefined;
}

/**
 * Through the tables of iptables of the variant that the node uses, IPVS, and the process of mode userspace. Packets meet the tables of
 * the other variant, too, which are left out: nothing removes what is written there, and so whoever writes there is seen to serve nobody.
 */
export class IptablesWalk implements PacketWalk {
  private known = { version: '', paths: new Map<string, readonly PacketPath[]>() };

  constructor(private readonly machine: Machine) {}

  get takesAtInput(): boolean {
    return this.machine.servers.view().size > 0;
  }

  walk(packet: Packet): readonly PacketPath[] {
    const { programs, servers, links, iptables, isProxying } = this.machine;
    const tables = programs.tableSet(packet.family, iptables);
    if (servers.view().size === 0 && tables.chainsWithEffect === '') return LEFT_ALONE;
    // Sockets come and go without a version.
    if (isProxying) return new TablesWalk(this.machine, tables, packet).paths();
    const [v4, v6] = (['IPv4', 'IPv6'] as const).map((family) => programs.tableSet(family, iptables).version);
    const version = [v4, v6, servers.version, links.version, programs.sets.version].join(' ');
    if (this.known.version !== version) this.known = { version, paths: new Map() };
    const { inputInterface, source, destination, protocol, destinationPort } = packet;
    const key = `${inputInterface} ${source} ${destination} ${protocol} ${destinationPort}`;
    let paths = this.known.paths.get(key);
    if (!paths) this.known.paths.set(key, (paths = new TablesWalk(this.machine, tables, packet).paths()));
    return paths;
  }
}

/** The way of one packet. */
class TablesWalk {
  private readonly found = new Map<string, PacketPath>();
  private readonly surroundings: Surroundings;

  constructor(
    private readonly machine: Machine,
    private readonly tables: TableSet,
    private readonly packet: Packet,
  ) {
    this.surroundings = {
      isLocal: (address) => this.isLocal(address),
      ownAddress: ({ inputInterface }) => this.ownAddress(inputInterface),
      members: (name) => machine.programs.sets.get(name),
    };
  }

  paths(): readonly PacketPath[] {
    const { packet } = this;
    const end: End = (flight, verdict) => this.ended(flight, verdict);
    const done: Then = (flight) => end(flight, 'accept');
    const at = (hook: Hook, flight: Flight, then: Then): void => this.throughHook(hook, flight, then, end);
    const leave = (flight: Flight): void =>
      at('OUTPUT', flight, (routed) => {
        const isAgain = routed.isSentAnew;
        routed.isSentAnew = false;
        if (isAgain) at('OUTPUT', routed, leftBy);
        else leftBy(routed);
      });
    const leftBy: Then = (flight) =>
      at('POSTROUTING', flight, (sent) => {
        if (!this.isLocal(sent.destination)) return done(sent);
        sent.inputInterface = 'lo';
        at('PREROUTING', sent, enter);
      });
    const enter: Then = (flight) =>
      at('INPUT', flight, (entered) => {
        if (!entered.isSentAnew) return done(entered);
        entered.isSentAnew = false;
        entered.inputInterface = '';
        at('OUTPUT', entered, (sent) => at('POSTROUTING', sent, done));
      });
    const start = this.start();
    if (packet.inputInterface === undefined) leave(start);
    else
      at('PREROUTING', start, (routed) =>
        this.isLocal(routed.destination)
          ? enter(routed)
          : at('FORWARD', routed, (forwarded) => at('POSTROUTING', forwarded, done)),
      );
    return [...this.found.values()];
  }

  private start(): Flight {
    const { machine, packet } = this;
    const { destination, destinationPort: port, inputInterface } = packet;
    // To an address of its own the node sends with that address as the source.
    const isToOwn = inputInterface === undefined && machine.serviceAddresses.has(destination);
    return {
      ...{ packet, hook: 'OUTPUT', source: isToOwn ? destination : packet.source, destination, port },
      ...{ inputInterface: inputInterface ?? '', mark: 0 },
      ...{ isTranslated: false, isMasqueraded: false },
      ...{ destinationIsSettled: false, sourceIsSettled: false },
      ...{ taken: undefined, isSentAnew: false, lists: [], isSticky: false, probability: 1 },
    };
  }

  private throughHook(hook: Hook, flight: Flight, then: Then, end: End): void {
    flight.hook = hook;
    const names = TABLES[hook];
    const next = (index: number, current: Flight): void => {
      const name = names[index];
      if (name === undefined || current.isSentAnew) return then(current);
      const goOn: Then = (later) => next(index + 1, later);
      if (name === 'ipvs') return this.balance(current, goOn, end);
      if (name === 'nat') {
        const isDestination = hook === 'PREROUTING' || hook === 'OUTPUT';
        const isSettled = isDestination ? current.destinationIsSettled : current.sourceIsSettled;
        if (isSettled) return goOn(current);
        return this.throughTable(
          name,
          current,
          (translated) => {
            if (isDestination) translated.destinationIsSettled = true;
            else translated.sourceIsSettled = true;
            goOn(translated);
          },
          end,
        );
      }
      this.throughTable(name, current, goOn, end);
    };
    next(0, flight);
  }

  private throughTable(table: string, flight: Flight, then: Then, end: End): void {
    const chain = this.tables.table(table)?.chains.get(flight.hook);
    if (!chain) return then(flight);
    const policy: Verdict = chain.policy === 'DROP' ? 'drop' : 'accept';
    this.follow(
      table,
      { rules: chain.entries, at: 0, before: undefined },
      flight,
      (decided, verdict = policy) => (verdict === 'accept' ? then(decided) : end(decided, verdict)),
    );
  }

  private follow(
    table: string,
    frame: Frame | undefined,
    flight: Flight,
    decide: (flight: Flight, verdict?: Verdict) => void,
  ): void {
    for (let current = frame; ;) {
      if (!current) return decide(flight);
      const { rules, at, before }: Frame = current;
      const rule = rules[at];
      if (rule === undefined) {
        current = before;
        continue;
      }
      const following: Frame = { rules, at: at + 1, before };
      const { tests, probability, target } = meaningOf(rule);
      if (!tests.every((test) => test(flight, this.surroundings))) {
        current = following;
        continue;
      }
      if (probability < 1) {
        const other = { ...flight, probability: flight.probability * (1 - probability) };
        flight.probability *= probability;
        this.follow(table, following, other, decide);
      }
      const next = target(flight, this.surroundings);
      if (next === 'next') current = following;
      else if (next === 'return') current = before;
      else if (typeof next === 'string') return decide(flight, next);
      else {
        const called = this.tables.table(table)?.chains.get(next.chain);
        current = called
          ? { rules: called.entries, at: 0, before: next.isGoto ? before : following }
          : following;
      }
    }
  }

  /** What IPVS makes of it. One of weight 0 gets no new connections. */
  private balance(flight: Flight, then: Then, end: End): void {
    const { destination: address, port, packet } = flight;
    const at = (number: number): VirtualServer | undefined =>
      this.machine.servers.find(serverAt({ address, port: number, protocol: packet.protocol }));
    const server = flight.taken ? undefined : (at(port) ?? at(0));
    if (!server) return then(flight);
    const { scheduler, flags, destinations } = server;
    const used = [...destinations.values()].filter(({ weight }) => weight > 0);
    if (used.length === 0) return end(flight, 'reject');
    const weightOf = ({ weight }: { readonly weight: number }) => (UNWEIGHTED.has(scheduler) ? 1 : weight);
    const total = used.reduce((sum, each) => sum + weightOf(each), 0);
    const isSticky =
      (flags & PERSISTENT) !== 0 ||
      scheduler === 'dh' ||
      (BY_CLIENT.has(scheduler) && (flags & HASH_SOURCE_PORT) === 0);
    for (const real of used)
      then({
        ...flight,
        ...{ destination: real.address, port: real.port === 0 ? port : real.port, isSticky },
        taken: { address, port },
        isSentAnew: !this.isLocal(real.address),
        probability: (flight.probability * weightOf(real)) / total,
      });
  }

  private ended(flight: Flight, verdict: Verdict): void {
    const path = this.pathOf(flight, verdict);
    const key = `${path.verdict} ${path.endpoint?.address} ${path.endpoint?.port} ${path.masquerade} ${path.sticky}`;
    const probability = (this.found.get(key)?.probability ?? 0) + path.probability;
    this.found.set(key, { ...path, probability });
  }

  private pathOf(flight: Flight, verdict: Verdict): PacketPath {
    const { destination: address, port, packet, probability, isMasqueraded: masquerade } = flight;
    const { machine } = this;
    if (verdict !== 'accept') return { verdict, probability, masquerade, sticky: false };
    if (!flight.isTranslated && !flight.taken)
      return { verdict: 'untouched', probability, masquerade, sticky: false };
    const isProxied =
      machine.isProxying && this.isLocal(address) && machine.hasSocketAt(packet.protocol, port);
    // The process makes a connection of its own.
    if (isProxied) {
      const endpoint = { address: 'process', port: 0 };
      return { verdict: 'forward', endpoint, probability, masquerade: true, sticky: false };
    }
    return {
      verdict: 'forward',
      endpoint: { address, port },
      probability,
      masquerade,
      sticky: flight.isSticky,
    };
  }

  private isLocal(address: string): boolean {
    return this.machine.localAddresses.has(address) || address === '::1' || address.startsWith('127.');
  }

  /** Packets that come in get an address of their interface; those of the node itself get loopback. */
  private ownAddress(inputInterface: string): string {
    const isIPv6 = this.packet.family === 'IPv6';
    const own = [...this.machine.addresses].find((address) => address.includes(':') === isIPv6);
    return inputInterface === '' || own === undefined ? (isIPv6 ? '::1' : '127.0.0.1') : own;
  }
}
