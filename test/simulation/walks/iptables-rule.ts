import { Networks } from '../../model/addresses.js';
import { wordsOf } from '../kernel/programs/rules/extension.js';
import type { Packet } from './packet-walk.js';

/** A packet on its way through tables, as one way through the rules has it. */
export interface Flight {
  readonly packet: Packet;
  hook: 'PREROUTING' | 'INPUT' | 'FORWARD' | 'OUTPUT' | 'POSTROUTING';
  source: string;
  destination: string;
  port: number;
  inputInterface: string;
  mark: number;
  connectionMark: number;
  isTranslated: boolean;
  isMasqueraded: boolean;
  /** Each end of a connection is translated once. */
  destinationIsSettled: boolean;
  sourceIsSettled: boolean;
  isUntracked: boolean;
  /** The frontend of the virtual server that took it. */
  taken: { readonly address: string; readonly port: number } | undefined;
  /** IPVS sends it on its way as if it came from this node. */
  isSentAnew: boolean;
  /** Lists of clients that rules have looked into. */
  lists: readonly string[];
  isSticky: boolean;
  probability: number;
}

/** What rules ask for that is no part of them. */
export interface Surroundings {
  readonly isLocal: (address: string) => boolean;
  readonly ownAddress: (flight: Flight) => string;
  readonly members: (
    set: string,
  ) => { readonly type: string; readonly members: ReadonlySet<string> } | undefined;
}

type Test = (flight: Flight, surroundings: Surroundings) => boolean;

/** Where a packet goes after a rule: on, to a chain, or nowhere any more. */
export type Next =
  | 'next'
  | 'accept'
  | 'drop'
  | 'reject'
  | 'return'
  | { readonly chain: string; readonly isGoto: boolean };

/** What a rule means. */
export interface Meaning {
  readonly tests: readonly Test[];
  /** Between 0 and 1. */
  readonly probability: number;
  /** What happens to packets that meet it. */
  readonly effects: readonly ((flight: Flight) => void)[];
  readonly target: (flight: Flight, surroundings: Surroundings) => Next;
}

const MEANINGS = new Map<string, Meaning>();
const MOST_KEPT = 50_000;

/** @param text behind `-A CHAIN` */
export function meaningOf(text: string): Meaning {
  let meaning = MEANINGS.get(text);
  if (!meaning) {
    if (MEANINGS.size >= MOST_KEPT) MEANINGS.clear();
    MEANINGS.set(text, (meaning = new RuleText(wordsOf(text)).meaning()));
  }
  return meaning;
}

const PROTOCOLS: Readonly<Record<string, string>> = {
  ...{ tcp: 'TCP', udp: 'UDP', sctp: 'SCTP' },
  ...{ '6': 'TCP', '17': 'UDP', '132': 'SCTP' },
};
/** Options and matches that decide about nothing, with the number of words behind them. */
const WITHOUT_EFFECT: Readonly<Record<string, number>> = {
  ...{ '--comment': 1, '--nfacct-name': 1, '--random': 0, '--random-fully': 0, '--persistent': 0 },
  ...{
    '--reject-with': 1,
    '--reap': 0,
    '--rsource': 0,
    '--mask': 1,
    '--seconds': 1,
    '--ipvs': 0,
    '--mode': 1,
  },
  ...{
    '--log-prefix': 1,
    '--log-level': 1,
    '--set-mss': 1,
    '--clamp-mss-to-pmtu': 0,
    '--nfmask': 1,
    '--ctmask': 1,
  },
  ...{ '--vproto': 1, '--return-nomatch': 0 },
};

/** Reads the words of a rule, as iptables-save prints it. */
class RuleText {
  private readonly tests: Test[] = [];
  private readonly effects: ((flight: Flight) => void)[] = [];
  private readonly options = new Map<string, string>();
  private probability = 1;
  private at = 0;
  private isNegated = false;
  private list = '';
  private target: Meaning['target'] = () => 'next';

  constructor(private readonly words: readonly string[]) {}

  meaning(): Meaning {
    let jump: string | undefined;
    let isGoto = false;
    while (this.at < this.words.length) {
      const word = this.take();
      if (word === '!') this.isNegated = true;
      else if (word === '-m') this.take();
      else if (word === '-j' || word === '-g') {
        isGoto = word === '-g';
        jump = this.take();
      } else this.option(word);
    }
    if (jump !== undefined) this.target = targetOf(jump, isGoto, this.options);
    const { tests, effects, probability, target } = this;
    return { tests, effects, probability, target };
  }

  private take(): string {
    return this.words[this.at++] ?? '';
  }

  private test(test: Test): void {
    const { isNegated } = this;
    this.tests.push(isNegated ? (flight, surroundings) => !test(flight, surroundings) : test);
    this.isNegated = false;
  }

  private option(name: string): void {
    const skipped = WITHOUT_EFFECT[name];
    if (skipped !== undefined) {
      this.at += skipped;
      return;
    }
    const value = (): string => this.take();
    switch (name) {
      case '-s':
        return this.test(inNetwork(value(), ({ source }) => source));
      case '-d':
        return this.test(inNetwork(value(), ({ destination }) => destination));
      case '-i': {
        const [device] = [value()];
        return this.test(({ inputInterface }) => isInterface(device, inputInterface));
      }
      case '-o': {
        const [device] = [value()];
        // Packets to the node itself take lo; there is one other device.
        return this.test(({ destination }, { isLocal }) =>
          isInterface(device, isLocal(destination) ? 'lo' : 'eth0'),
        );
      }
      case '-p':
      case '--ctproto': {
        const protocol = PROTOCOLS[value()];
        return this.test(({ packet }) => packet.protocol === protocol);
      }
      case '--dport':
      case '--dports': {
        const isMeant = ports(value());
        return this.test(({ port }) => isMeant(port));
      }
      case '--ctorigdst':
        return this.test(inNetwork(value(), ({ packet }) => packet.destination));
      case '--ctorigdstport': {
        const isMeant = ports(value());
        return this.test(({ packet }) => isMeant(packet.destinationPort));
      }
      case '--ctstate':
      case '--state': {
        const states = value().split(',');
        return this.test(({ isUntracked, isTranslated }) =>
          isUntracked
            ? states.includes('UNTRACKED')
            : states.includes('NEW') || (isTranslated && states.includes('DNAT')),
        );
      }
      case '--mark': {
        const [wanted, mask] = masked(value());
        return this.test(({ mark }) => (mark & mask) >>> 0 === wanted);
      }
      case '--dst-type': {
        const types = value().split(',');
        return this.test(({ destination }, { isLocal }) =>
          types.includes(isLocal(destination) ? 'LOCAL' : 'UNICAST'),
        );
      }
      case '--src-type': {
        const types = value().split(',');
        return this.test(({ source }, { isLocal }) => types.includes(isLocal(source) ? 'LOCAL' : 'UNICAST'));
      }
      case '--match-set': {
        const [set, directions] = [value(), value().split(',')];
        return this.test((flight, surroundings) => isInSet(set, directions, flight, surroundings));
      }
      case '--vaddr':
        return this.test(inNetwork(value(), ({ taken }) => taken?.address ?? ''));
      case '--vport': {
        const port = Number(value());
        return this.test(({ taken }) => taken?.port === port);
      }
      case '--physdev-is-in':
      case '--physdev-is-out':
      case '--physdev-is-bridged':
        return this.test(() => false);
      case '--pkt-type': {
        const isUnicast = value() === 'unicast';
        return this.test(() => isUnicast);
      }
      case '--probability':
        this.probability = Number(value());
        return;
      case '--name':
        this.list = value();
        return;
      case '--rcheck': {
        // Nobody whose packets are sent has been seen before.
        const test: Test = (flight) => {
          flight.lists = [...flight.lists, this.list];
          return false;
        };
        return this.test(test);
      }
      case '--set':
        this.effects.push((flight) => {
          if (flight.lists.includes(this.list)) flight.isSticky = true;
        });
        return;
      case '--to-destination':
      case '--to-ports':
      case '--to-source':
      case '--set-xmark':
        this.options.set(name, value());
        return;
      case '--notrack':
      case '--save-mark':
      case '--restore-mark':
        this.options.set(name, '');
        return;
      default:
        throw new Error(`no packet can be sent through the option ${name} of ${this.words.join(' ')}`);
    }
  }
}

const TO = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/;
const PASSING: ReadonlySet<string> = new Set(['LOG', 'NFLOG', 'TCPMSS']);

function targetOf(name: string, isGoto: boolean, options: ReadonlyMap<string, string>): Meaning['target'] {
  if (PASSING.has(name)) return () => 'next';
  const mark = options.get('--set-xmark');
  const [value, mask] = masked(mark ?? '0');
  switch (name) {
    case 'ACCEPT':
      return () => 'accept';
    case 'DROP':
      return () => 'drop';
    case 'REJECT':
      return () => 'reject';
    case 'RETURN':
      return () => 'return';
    case 'DNAT': {
      const text = options.get('--to-destination')!;
      const [, bracketed, plain, port] =
        text.includes('.') || text.startsWith('[') ? TO.exec(text)! : [text, text];
      return (flight) => {
        flight.destination = bracketed ?? (plain || flight.destination);
        if (port !== undefined) flight.port = Number(port);
        flight.isTranslated = true;
        return 'accept';
      };
    }
    case 'REDIRECT': {
      const port = options.get('--to-ports');
      return (flight, { ownAddress }) => {
        flight.destination = ownAddress(flight);
        if (port !== undefined) flight.port = Number(port);
        flight.isTranslated = true;
        return 'accept';
      };
    }
    case 'SNAT':
    case 'MASQUERADE':
      return (flight, { isLocal }) => {
        if (isLocal(flight.destination)) flight.source = flight.destination;
        flight.isMasqueraded = true;
        return 'accept';
      };
    case 'MARK':
      return (flight) => {
        flight.mark = ((flight.mark & ~mask) ^ value) >>> 0;
        return 'next';
      };
    case 'CONNMARK':
      return (flight) => {
        if (options.has('--save-mark')) flight.connectionMark = flight.mark;
        else if (options.has('--restore-mark')) flight.mark = flight.connectionMark;
        else flight.connectionMark = ((flight.connectionMark & ~mask) ^ value) >>> 0;
        return 'next';
      };
    case 'CT':
    case 'NOTRACK':
      return (flight) => {
        flight.isUntracked ||= name === 'NOTRACK' || options.has('--notrack');
        return 'next';
      };
    default:
      return () => ({ chain: name, isGoto });
  }
}

function inNetwork(text: string, addressOf: (flight: Flight) => string): Test {
  const [address = '', length] = text.split('/');
  if (length === undefined || length === (address.includes(':') ? '128' : '32'))
    return (flight) => addressOf(flight) === address;
  const networks = new Networks([text]);
  return (flight) => networks.has(addressOf(flight));
}

/** A name that ends in `+` is a prefix. */
function isInterface(pattern: string, name: string): boolean {
  return pattern.endsWith('+') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

function ports(text: string): (port: number) => boolean {
  const ranges = text.split(',').map((range) => range.split(':').map(Number));
  return (port) => ranges.some(([first = 0, last = first]) => first <= port && port <= last);
}

function masked(text: string): readonly [value: number, mask: number] {
  const [value, mask = '0xffffffff'] = text.split('/');
  return [Number(value), Number(mask)];
}

/** Whether the fields of the packet, in these directions, are a member. */
function isInSet(
  name: string,
  directions: readonly string[],
  { source, destination, port, packet }: Flight,
  { members }: Surroundings,
): boolean {
  const set = members(name);
  if (!set) return false;
  const kinds = set.type.slice(set.type.indexOf(':') + 1).split(',');
  const fields = kinds.map((kind, index) => {
    if (kind !== 'port') return directions[index] === 'src' ? source : destination;
    return set.type === 'bitmap:port' ? String(port) : `${packet.protocol.toLowerCase()}:${port}`;
  });
  if (!kinds.includes('net')) return set.members.has(fields.join(','));
  return [...set.members].some((member) =>
    member
      .split(',')
      .every((part, index) =>
        kinds[index] === 'net' && part.includes('/')
          ? new Networks([part]).has(fields[index]!)
          : part === fields[index],
      ),
  );
}
