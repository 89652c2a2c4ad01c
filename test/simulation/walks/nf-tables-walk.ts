import { addressBytes, addressText } from '../kernel/netlink/addresses.js';
import { HOOK } from '../kernel/nf-tables/expressions.js';
import { FAMILY, VERDICT_CODE } from '../kernel/nf-tables/numbers.js';
import type { Chain, Rule } from '../kernel/nf-tables/objects.js';
import type { Machine } from '../kernel/machine.js';
import {
  addressesIn,
  copyOf,
  programOf,
  type Effect,
  type Flight,
  type Surroundings,
} from './nf-tables-program.js';
import { LEFT_ALONE, type Packet, type PacketPath, type PacketWalk } from './packet-walk.js';

const PROTOCOLS = { TCP: 6, UDP: 17, SCTP: 132 } as const;
const SOURCE_PORT = 40_000;
/** The kernel translates at these priorities, whatever the chains say. */
const NAT_PRIORITIES: Readonly<Record<number, number>> = {
  [HOOK.PREROUTING]: -100,
  [HOOK.OUTPUT]: -100,
  [HOOK.INPUT]: 100,
  [HOOK.POSTROUTING]: 100,
};

type Then = (flight: Flight) => void;
type Verdict = 'accept' | 'drop' | 'reject';

/** What is left of a chain when a jump returns to it. */
interface Frame {
  readonly rules: readonly Rule[];
  readonly at: number;
  readonly before: Frame | undefined;
}

/** Through all tables of nf_tables, by what the simulated kernel itself keeps of them. */
export class NfTablesWalk implements PacketWalk {
  private known = { version: '', paths: new Map<string, readonly PacketPath[]>() };
  private readonly surroundings: Surroundings;

  constructor(
    private readonly machine: Pick<Machine, 'nfTables' | 'links' | 'localAddresses'>,
    now: () => number,
  ) {
    this.surroundings = { now, isLocal: (address) => this.isLocal(addressText(address)) };
  }

  walk(packet: Packet): readonly PacketPath[] {
    const { nfTables, links } = this.machine;
    const version = `${nfTables.version} ${links.version}`;
    if (this.known.version !== version) this.known = { version, paths: new Map() };
    const { family, inputInterface, source, destination, protocol, destinationPort } = packet;
    const key = `${family} ${inputInterface} ${source} ${destination} ${protocol} ${destinationPort}`;
    let paths = this.known.paths.get(key);
    if (!paths) this.known.paths.set(key, (paths = this.send(packet)));
    return paths;
  }

  private send(packet: Packet): readonly PacketPath[] {
    const bases = this.basesFor(packet);
    if (bases.length === 0) return LEFT_ALONE;
    const paths = new Map<string, PacketPath>();
    const end = (flight: Flight, verdict: Verdict): void => {
      const path = pathOf(flight, verdict);
      const key = JSON.stringify({ ...path, probability: 0 });
      const probability = (paths.get(key)?.probability ?? 0) + path.probability;
      paths.set(key, { ...path, probability });
    };
    const at = (hook: number, flight: Flight, then: Then): void =>
      this.throughHook(bases, hook, flight, then, end);
    const done: Then = (flight) => end(flight, 'accept');
    const isForNode = (flight: Flight): boolean => this.surroundings.isLocal(addressesIn(flight).destination);
    const arrive: Then = (flight) =>
      at(HOOK.PREROUTING, flight, (routed) =>
        isForNode(routed)
          ? at(HOOK.INPUT, routed, done)
          : at(HOOK.FORWARD, routed, (forwarded) => at(HOOK.POSTROUTING, forwarded, done)),
      );
    const start = flightOf(packet);
    if (packet.inputInterface !== undefined) arrive(start);
    else
      at(HOOK.OUTPUT, start, (sent) =>
        at(HOOK.POSTROUTING, sent, (left) => {
          if (!isForNode(left)) return done(left);
          left.inputInterface = 'lo';
          arrive(left);
        }),
      );
    return [...paths.values()];
  }

  /** In the order in which packets meet them. */
  private basesFor({ family }: Packet): readonly Chain[] {
    const own = family === 'IPv4' ? FAMILY.IP : FAMILY.IP6;
    const tables = [...this.machine.nfTables.tables].filter(
      (table) => table.family === own || table.family === FAMILY.INET,
    );
    // The kernel puts a chain before those of the same priority that were there already.
    return tables
      .flatMap(({ chains }) => [...chains.values()].filter(({ base }) => base !== undefined))
      .sort(
        (one, other) =>
          one.base!.priority - other.base!.priority ||
          other.table.handle - one.table.handle ||
          other.handle - one.handle,
      );
  }

  private throughHook(
    bases: readonly Chain[],
    hook: number,
    flight: Flight,
    then: Then,
    end: (flight: Flight, verdict: Verdict) => void,
  ): void {
    const here = bases.filter(({ base }) => base!.hook === hook);
    const natPriority = NAT_PRIORITIES[hook] ?? Infinity;
    const others = here.filter(({ base }) => base!.type !== 'nat');
    const order = [
      ...others.filter(({ base }) => base!.priority < natPriority),
      ...here.filter(({ base }) => base!.type === 'nat'),
      ...others.filter(({ base }) => base!.priority >= natPriority),
    ];
    const isDestination = hook === HOOK.PREROUTING || hook === HOOK.OUTPUT;
    // Which end is settled is decided once all chains that translate have been asked.
    const wasSettled = isDestination ? flight.destinationIsSettled : flight.sourceIsSettled;
    const next = (index: number, current: Flight): void => {
      const chain = order[index];
      if (!chain) {
        if (isDestination) current.destinationIsSettled = true;
        else if (hook !== HOOK.FORWARD) current.sourceIsSettled = true;
        return then(current);
      }
      const isDone = isDestination ? current.isTranslated : current.isMasqueraded;
      if (chain.base!.type === 'nat' && (wasSettled || isDone)) return next(index + 1, current);
      const frame = { rules: chain.rules, at: 0, before: undefined };
      const policy: Verdict = chain.base!.policy === VERDICT_CODE.DROP ? 'drop' : 'accept';
      this.follow(frame, 0, current, (decided, verdict = policy) =>
        verdict === 'accept' ? next(index + 1, decided) : end(decided, verdict),
      );
    };
    next(0, flight);
  }

  /** Goes on with an expression of a rule. @param decide called for each way, without a verdict where no rule has one */
  private follow(
    frame: Frame | undefined,
    expression: number,
    flight: Flight,
    decide: (flight: Flight, verdict?: Verdict) => void,
  ): void {
    for (let [current, from] = [frame, expression]; ;) {
      if (!current) return decide(flight);
      const { rules, at, before } = current;
      const rule = rules[at];
      if (!rule) {
        [current, from] = [before, 0];
        continue;
      }
      const program = programOf(rule);
      const following: Frame = { rules, at: at + 1, before };
      let effect: Effect = 'next';
      for (; from < program.length && effect === 'next'; from++)
        effect = program[from]!(flight, this.surroundings);
      if (effect === 'next' || effect === 'no match') [current, from] = [following, 0];
      else if ('translated' in effect) return decide(flight, 'accept');
      else if ('rejected' in effect) return decide(flight, 'reject');
      else if ('choices' in effect) {
        for (let choice = 0; choice < effect.choices; choice++) {
          const chosen = copyOf(flight);
          chosen.probability /= effect.choices;
          effect.choose(chosen, choice);
          this.follow(current, from, chosen, decide);
        }
        return;
      } else {
        const { code, chain } = effect;
        if (code === VERDICT_CODE.ACCEPT) return decide(flight, 'accept');
        if (code === VERDICT_CODE.DROP) return decide(flight, 'drop');
        const target = (back: Frame | undefined): Frame => ({ rules: chain!.rules, at: 0, before: back });
        if (code === VERDICT_CODE.JUMP) current = target(following);
        else if (code === VERDICT_CODE.GOTO) current = target(before);
        else current = code === VERDICT_CODE.RETURN ? before : following;
        from = 0;
      }
    }
  }

  private isLocal(address: string): boolean {
    return this.machine.localAddresses.has(address) || address === '::1' || address.startsWith('127.');
  }
}

function flightOf({
  family,
  inputInterface = '',
  source,
  destination,
  protocol,
  destinationPort,
}: Packet): Flight {
  const isIPv6 = family === 'IPv6';
  const network = Buffer.alloc(isIPv6 ? 40 : 20);
  network[0] = isIPv6 ? 0x60 : 0x45;
  network[isIPv6 ? 6 : 9] = PROTOCOLS[protocol];
  const places = addressesIn({ network, isIPv6 });
  addressBytes(source).copy(places.source);
  addressBytes(destination).copy(places.destination);
  const transport = Buffer.alloc(20);
  transport.writeUInt16BE(SOURCE_PORT, 0);
  transport.writeUInt16BE(destinationPort, 2);
  return {
    ...{ registers: Buffer.alloc(80), network, transport, isIPv6, inputInterface },
    ...{ protocol: PROTOCOLS[protocol], mark: 0, priority: 0, probability: 1 },
    ...{ destinationIsSettled: false, sourceIsSettled: false },
    ...{ isTranslated: false, isMasqueraded: false, isSticky: false },
  };
}

function pathOf(flight: Flight, verdict: Verdict): PacketPath {
  const { probability, isMasqueraded: masquerade, isSticky: sticky, isTranslated } = flight;
  if (verdict !== 'accept') return { verdict, probability, masquerade, sticky };
  if (!isTranslated) return { verdict: 'untouched', probability, masquerade, sticky };
  const endpoint = {
    address: addressText(addressesIn(flight).destination),
    port: flight.transport.readUInt16BE(2),
  };
  return { verdict: 'forward', endpoint, probability, masquerade, sticky };
}
