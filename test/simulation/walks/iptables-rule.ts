import { Networks } from '../../model/addresses.js';
import type { Rule, RuleOption } from '../kernel/programs/rules/rule.js';
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
  isTranslated: boolean;
  isMasqueraded: boolean;
  /** Each end of a connection is translated once. */
  destinationIsSettled: boolean;
  sourceIsSettled: boolean;
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

/** The effect of a rule. */
export interface Meaning {
  readonly tests: readonly Test[];
  /** Between 0 and 1. */
  readonly probability: number;
  readonly target: (flight: Flight, surroundings: Surroundings) => Next;
}

const MEANINGS = new WeakMap<Rule, Meaning>();

export function meaningOf(rule: Rule): Meaning {
  let meaning = MEANINGS.get(rule);
  if (!meaning) MEANINGS.set(rule, (meaning = read(rule)));
  return meaning;
}

function read(rule: Rule): Meaning {
  const values = new Map(rule.options.map(({ name, value }) => [name, value]));
  const tests = rule.options.flatMap(({ name, value, isNegated }: RuleOption): readonly Test[] => {
    if (WITHOUT_EFFECT.has(name)) return [];
    const test = TESTS[name]?.(value, values);
    if (!test) throw new Error(`no packet can be sent through the option ${name} of ${rule.text}`);
    return [isNegated ? (flight, surroundings) => !test(flight, surroundings) : test];
  });
  const act = targetOf(rule, values);
  const list = values.has('--set') ? values.get('--name')! : undefined;
  return {
    tests,
    probability: Number(values.get('--probability') ?? 1),
    target(flight, surroundings) {
      if (list !== undefined && flight.lists.includes(list)) flight.isSticky = true;
      return act(flight, surroundings);
    },
  };
}

/** Options that decide about nothing, or are read with others. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set(
  'comment nfacct-name random random-fully reject-with reap rsource mask seconds ipvs mode vproto probability name set to-destination to-ports set-xmark'
    .split(' ')
    .map((name) => `--${name}`),
);

const hasState = (value: string): Test => {
  const states = value.split(',');
  return ({ isTranslated }) => states.includes('NEW') || (isTranslated && states.includes('DNAT'));
};
const isOfType = (value: string, addressOf: (flight: Flight) => string): Test => {
  const types = value.split(',');
  return (flight, { isLocal }) => types.includes(isLocal(addressOf(flight)) ? 'LOCAL' : 'UNICAST');
};

const TESTS: Readonly<Record<string, (value: string, values: ReadonlyMap<string, string>) => Test>> = {
  '-s': (value) => inNetwork(value, ({ source }) => source),
  '-d': (value) => inNetwork(value, ({ destination }) => destination),
  '-p':
    (value) =>
    ({ packet }) =>
      packet.protocol === value.toUpperCase(),
  '--dport':
    (value) =>
    ({ port }) =>
      port === Number(value),
  '--ctstate': hasState,
  '--state': hasState,
  '--mark'(value) {
    const [wanted, mask] = masked(value);
    return ({ mark }) => (mark & mask) >>> 0 === wanted;
  },
  '--dst-type': (value) => isOfType(value, ({ destination }) => destination),
  '--src-type': (value) => isOfType(value, ({ source }) => source),
  '--match-set'(value) {
    const [set = '', directions = ''] = value.split(' ');
    return (flight, surroundings) => isInSet(set, directions.split(','), flight, surroundings);
  },
  '--vaddr': (value) => inNetwork(value, ({ taken }) => taken?.address ?? ''),
  '--vport':
    (value) =>
    ({ taken }) =>
      taken?.port === Number(value),
  '--physdev-is-in': () => () => false,
  // Nobody whose packets are sent has been seen before.
  '--rcheck': (_, values) => (flight) => {
    flight.lists = [...flight.lists, values.get('--name')!];
    return false;
  },
};

const TO = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/;
const VERDICTS: Readonly<Record<string, Next>> = {
  ACCEPT: 'accept',
  DROP: 'drop',
  REJECT: 'reject',
  RETURN: 'return',
};

function targetOf({ target, chain, isGoto }: Rule, values: ReadonlyMap<string, string>): Meaning['target'] {
  if (target === undefined) return () => 'next';
  if (chain !== undefined) return () => ({ chain, isGoto });
  const verdict = VERDICTS[target];
  if (verdict !== undefined) return () => verdict;
  switch (target) {
    case 'DNAT': {
      const text = values.get('--to-destination')!;
      const [, bracketed, plain, port] =
        text.includes('.') || text.startsWith('[') ? TO.exec(text)! : [text, text];
      return (flight) => translate(flight, bracketed ?? (plain || flight.destination), port);
    }
    case 'REDIRECT':
      return (flight, { ownAddress }) => translate(flight, ownAddress(flight), values.get('--to-ports'));
    case 'MASQUERADE':
      return (flight, { isLocal }) => {
        if (isLocal(flight.destination)) flight.source = flight.destination;
        flight.isMasqueraded = true;
        return 'accept';
      };
    case 'MARK': {
      const [value, mask] = masked(values.get('--set-xmark')!);
      return (flight) => {
        flight.mark = ((flight.mark & ~mask) ^ value) >>> 0;
        return 'next';
      };
    }
    default:
      throw new Error(`no packet can be sent to the target ${target}`);
  }
}

function translate(flight: Flight, destination: string, port: string | undefined): Next {
  flight.destination = destination;
  if (port !== undefined) flight.port = Number(port);
  flight.isTranslated = true;
  return 'accept';
}

function inNetwork(text: string, addressOf: (flight: Flight) => string): Test {
  const [address = '', length] = text.split('/');
  if (length === undefined || length === (address.includes(':') ? '128' : '32'))
    return (flight) => addressOf(flight) === address;
  const networks = new Networks([text]);
  return (flight) => networks.has(addressOf(flight));
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
