import { attributesBetween, attributesOf, type Attributes } from '../kernel/netlink/attributes.js';
import { DATA, EXPR, VERDICT } from '../kernel/nf-tables/numbers.js';
import type { Chain, Element, NftSet, Rule, Verdict } from '../kernel/nf-tables/objects.js';

/** The registers of a rule and the packet, as one way through the rules has them. */
export interface Flight {
  readonly registers: Buffer;
  readonly network: Buffer;
  readonly transport: Buffer;
  readonly protocol: number;
  readonly isIPv6: boolean;
  inputInterface: string;
  mark: number;
  priority: number;
  /** Each end of a connection is translated once. */
  destinationIsSettled: boolean;
  sourceIsSettled: boolean;
  isTranslated: boolean;
  isMasqueraded: boolean;
  isSticky: boolean;
  probability: number;
}

/** Another packet that is where the first one is. */
export function copyOf(flight: Flight): Flight {
  const [registers, network, transport] = [flight.registers, flight.network, flight.transport].map((bytes) =>
    Buffer.from(bytes),
  );
  return { ...flight, registers: registers!, network: network!, transport: transport! };
}

/** What an expression does: the packet goes on, the rule does not match, it is decided about, or chance decides among so many values. */
export type Effect =
  | 'next'
  | 'no match'
  | Verdict
  | { readonly translated: true }
  | { readonly rejected: true }
  | { readonly choices: number; choose(flight: Flight, choice: number): void };

/** What rules ask for that is no part of them. */
export interface Surroundings {
  readonly now: () => number;
  readonly isLocal: (address: Buffer) => boolean;
}

type Instruction = (flight: Flight, surroundings: Surroundings) => Effect;

const NEXT = 'next';
const NO_MATCH = 'no match';
/** By their numbers. */
const OPERATORS: Readonly<Record<number, (order: number) => boolean>> = {
  0: (order) => order === 0,
  1: (order) => order !== 0,
  5: (order) => order >= 0,
};
const FIRST_SMALL = 8;

/** Where a register begins, by one of its numbers. */
function place(register: number): number {
  return register < FIRST_SMALL ? register * 16 : 16 + (register - FIRST_SMALL) * 4;
}

const PROGRAMS = new WeakMap<Rule, readonly Instruction[]>();

/** What a rule does, read from the bytes by which the kernel lists it. */
export function programOf(rule: Rule): readonly Instruction[] {
  let program = PROGRAMS.get(rule);
  if (program) return program;
  program = [...attributesBetween(rule.dumped, 0, rule.dumped.length)].map((at, index) => {
    const attributes = attributesOf(rule.dumped, at);
    const { name, set, target } = rule.expressions[index]!;
    const read = READERS[name];
    if (!read) throw new Error(`no packet can be sent through an expression ${name}`);
    return read({ data: attributes.nested(EXPR.DATA), set, target });
  });
  PROGRAMS.set(rule, program);
  return program;
}

/** For how many seconds the rule remembers clients in a set, for each time that it does. */
export function rememberedFor(rule: Rule): readonly number[] {
  const [LIST, TIMEOUT] = [attributesBetween(rule.dumped, 0, rule.dumped.length), 6];
  return rule.expressions.flatMap(({ name: kind, set }, index) => {
    if (kind !== 'dynset') return [];
    const own = attributesOf(rule.dumped, LIST[index]!).nested(EXPR.DATA)!.be64(TIMEOUT) ?? 0;
    return (own === 0 ? set!.timeout : own) / 1_000;
  });
}

interface Listed {
  readonly data: Attributes | undefined;
  readonly set: NftSet | undefined;
  readonly target: Chain | undefined;
}

/** Puts bytes where a register begins, padded to words. */
function store(flight: Flight, register: number, value: Buffer): void {
  const at = place(register);
  flight.registers.fill(0, at, at + ((value.length + 3) & ~3));
  value.copy(flight.registers, at);
}

function number(value: number, length = 4): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes.subarray(0, length);
}

const META: Readonly<Record<number, (flight: Flight) => Buffer>> = {
  2: ({ priority }) => number(priority),
  3: ({ mark }) => number(mark),
  16: ({ protocol }) => Buffer.from([protocol]),
};

const CT: Readonly<Record<number, (flight: Flight) => Buffer>> = {
  0: () => number(1 << 3),
  2: ({ isTranslated, isMasqueraded }) => number((isTranslated ? 0x20 : 0) | (isMasqueraded ? 0x10 : 0)),
};

/** The element of the key at this time, in milliseconds, or the one for all other keys. No set of a world has ranges. */
export function elementFor({ elements }: NftSet, key: Buffer, now: number): Element | undefined {
  return [key.toString('latin1'), '']
    .map((id) => elements.get(id))
    .find((element) => element !== undefined && element.expires > now);
}

const pass: () => Instruction = () => () => NEXT;

/** By the names of expressions. */
const READERS: Readonly<Record<string, (listed: Listed) => Instruction>> = {
  meta({ data }) {
    const [register, key, source] = [data!.be32(1), data!.be32(2)!, data!.be32(3)];
    if (register === undefined)
      return (flight) => {
        const value = flight.registers.readUInt32LE(place(source!));
        if (key === 3) flight.mark = value;
        else if (key === 2) flight.priority = value;
        return NEXT;
      };
    const load = META[key];
    if (!load) throw new Error(`no packet has a value for meta ${key}`);
    return (flight) => (store(flight, register, load(flight)), NEXT);
  },
  ct({ data }) {
    const [register, key] = [data!.be32(1), data!.be32(2)!];
    if (register === undefined) return () => NEXT;
    const load = CT[key];
    if (!load) throw new Error(`no packet has a value for ct ${key}`);
    return (flight) => (store(flight, register, load(flight)), NEXT);
  },
  payload({ data }) {
    const [register, base, offset, length] = [1, 2, 3, 4].map((type) => data!.be32(type)!);
    return (flight) => {
      const header = base === 1 ? flight.network : flight.transport;
      store(flight, register!, header.subarray(offset, offset! + length!));
      return NEXT;
    };
  },
  cmp({ data }) {
    const [register, operator, value] = [data!.be32(1)!, data!.be32(2)!, valueOf(data!, 3)];
    const at = place(register);
    const holds = OPERATORS[operator];
    if (!holds) throw new Error(`no packet can be compared by the operator ${operator}`);
    return ({ registers }) =>
      holds(registers.subarray(at, at + value.length).compare(value)) ? NEXT : NO_MATCH;
  },
  bitwise({ data }) {
    const [source, register, length] = [data!.be32(1)!, data!.be32(2)!, data!.be32(3)!];
    const operator = data!.be32(6) ?? 0;
    const at = place(source);
    if (operator === 0) {
      const [mask, xor] = [valueOf(data!, 4), valueOf(data!, 5)];
      return (flight) => {
        const value = Buffer.from(flight.registers.subarray(at, at + length));
        store(flight, register, value.map((byte, index) => (byte & mask[index]!) ^ xor[index]!) as Buffer);
        return NEXT;
      };
    }
    throw new Error(`no packet can be sent through the bitwise operation ${operator}`);
  },
  byteorder({ data }) {
    const [source, register, , length, size] = [1, 2, 3, 4, 5].map((type) => data!.be32(type)!);
    const at = place(source!);
    return (flight) => {
      const value = Buffer.from(flight.registers.subarray(at, at + length!));
      for (let part = 0; part < length!; part += size!) value.subarray(part, part + size!).reverse();
      store(flight, register!, value);
      return NEXT;
    };
  },
  immediate({ data, target }) {
    const register = data!.be32(1)!;
    if (register !== 0) {
      const value = valueOf(data!, 2);
      return (flight) => (store(flight, register, value), NEXT);
    }
    const code = data!.nested(2)!.nested(DATA.VERDICT)!.be32(VERDICT.CODE)! | 0;
    const verdict: Verdict = { code, ...(target && { chain: target }) };
    return () => verdict;
  },
  lookup({ data, set }) {
    const at = place(data!.be32(2)!);
    const register = data!.be32(3);
    const isInverted = ((data!.be32(5) ?? 0) & 1) !== 0;
    return (flight, { now }) => {
      const element = elementFor(set!, flight.registers.subarray(at, at + set!.keyLength), now());
      if ((element === undefined) !== isInverted) return NO_MATCH;
      if (register === undefined || !element) return NEXT;
      if (element.verdict) return element.verdict;
      store(flight, register, element.value!);
      return NEXT;
    };
  },
  dynset: () => (flight) => {
    flight.isSticky = true;
    return NEXT;
  },
  numgen: ({ data }) => chance(data!.be32(1)!, data!.be32(2)!, data!.be32(4) ?? 0),
  hash: ({ data }) => chance(data!.be32(2)!, data!.be32(4)!, data!.be32(6) ?? 0),
  fib({ data }) {
    const [register, result, flags] = [data!.be32(1)!, data!.be32(2)!, data!.be32(3)!];
    const [SADDR, ADDRESS_TYPE, LOCAL, UNICAST] = [1, 3, 2, 1];
    if (result !== ADDRESS_TYPE) throw new Error(`no packet has a route of the kind ${result}`);
    return (flight, { isLocal }) => {
      const { source, destination } = addressesIn(flight);
      const type = isLocal((flags & SADDR) !== 0 ? source : destination) ? LOCAL : UNICAST;
      store(flight, register, number(type));
      return NEXT;
    };
  },
  nat({ data }) {
    const [type, address, port] = [data!.be32(1)!, data!.be32(3), data!.be32(5)];
    const isSource = type === 0;
    return (flight) => {
      if (isSource) flight.isMasqueraded = true;
      else {
        const { destination } = addressesIn(flight);
        if (address !== undefined)
          flight.registers.copy(destination, 0, place(address), place(address) + destination.length);
        if (port !== undefined) flight.registers.copy(flight.transport, 2, place(port), place(port) + 2);
        flight.isTranslated = true;
      }
      return { translated: true };
    };
  },
  masq: () => (flight) => {
    flight.isMasqueraded = true;
    return { translated: true };
  },
  reject: () => () => ({ rejected: true }),
  counter: pass,
  objref: pass,
  log: pass,
  limit: pass,
  last: pass,
  notrack: pass,
};

/** A number by chance, each as likely as the others. */
function chance(register: number, modulus: number, offset: number): Instruction {
  const effect = {
    choices: modulus,
    choose: (flight: Flight, choice: number) => store(flight, register, number(choice + offset)),
  };
  return () => effect;
}

function valueOf(data: Attributes, type: number): Buffer {
  return data.nested(type)!.value(DATA.VALUE)!;
}

/** Views of the header. */
export function addressesIn({ network, isIPv6 }: Pick<Flight, 'network' | 'isIPv6'>): {
  readonly source: Buffer;
  readonly destination: Buffer;
} {
  const [at, length] = isIPv6 ? [8, 16] : [12, 4];
  return {
    source: network.subarray(at, at + length),
    destination: network.subarray(at + length, at + 2 * length),
  };
}
