import { addressLength } from '../netlink/addresses.js';
import { attributesOf, naming, Refusal, typeAt, within } from '../netlink/attributes.js';
import { MessageBuilder } from '../netlink/message-builder.js';
import { E } from '../netlink/numbers.js';
import { DATA_VERDICT, EXPR, FAMILY, LIST_ELEM, SET_FLAG } from './numbers.js';
import {
  isFlagged,
  type BaseChain,
  type Chain,
  type Context,
  type Expression,
  type Rule,
} from './objects.js';
import { lookForCircle } from './reach.js';
import { Sent, SLOTS } from './sent-expression.js';
import type { Transaction } from './transaction.js';

/** The kernel's size of a rule has twelve bits; an expression takes about this many bytes of it. */
const [MOST_BYTES, BYTES_EACH, MOST_EXPRESSIONS] = [4096, 24, 128];
export const HOOK = { PREROUTING: 0, INPUT: 1, FORWARD: 2, OUTPUT: 3, POSTROUTING: 4 } as const;

type Meaning = Omit<Expression, 'name'>;

/** How a kind of expression is judged. Both throw Refusal. */
interface Kind {
  /** What the kernel looks at when it reads the expression, before it begins with the first one of the rule. */
  readonly check?: (sent: Sent) => void;
  /** The rest; notes what is to be listed. */
  readonly init: (sent: Sent) => Meaning | void;
}

/** The expressions of a rule that is being added: the registers that they have filled, and what they take hold of. */
export class RuleReading {
  readonly filled = new Array<boolean>(SLOTS).fill(false);

  constructor(
    readonly context: Context,
    readonly transaction: Transaction,
    readonly chain: Chain,
  ) {}

  /** @param list where the attribute of the list begins. @throws Refusal */
  read(bytes: Buffer, list: number | undefined): Pick<Rule, 'expressions' | 'dumped'> {
    const all = within(bytes, list).map((at, index) => {
      if (typeAt(bytes, at) !== LIST_ELEM || index >= MOST_EXPRESSIONS) throw new Refusal(E.EINVAL);
      return naming(at, () => this.begin(bytes, at));
    });
    if (all.length * BYTES_EACH >= MOST_BYTES) throw new Refusal(E.EFBIG);
    const expressions = all.map(({ at, name, kind, sent }) =>
      naming(at, () => ({ name, ...kind.init(sent) })),
    );
    for (const { name, sent } of all)
      builder.plainNest(LIST_ELEM, () => {
        builder.text(EXPR.NAME, name);
        if (name !== NOTRACK)
          builder.plainNest(EXPR.DATA, () => {
            for (const [type, value] of sent.listed) builder.attribute(type, value);
          });
      });
    return { expressions, dumped: builder.take() };
  }

  private begin(bytes: Buffer, at: number) {
    const attributes = attributesOf(bytes, at);
    const name = attributes.text(EXPR.NAME);
    if (name === undefined) throw new Refusal(E.EINVAL);
    const kind = Object.hasOwn(KINDS, name) ? KINDS[name]! : undefined;
    if (!kind) throw new Refusal(E.ENOENT);
    const sent = new Sent(attributes.nested(EXPR.DATA), this);
    kind.check?.(sent);
    return { at, name, kind, sent };
  }
}

const builder = new MessageBuilder();

const onlyIn =
  (type: string | undefined, ...hooks: readonly number[]) =>
  (base: BaseChain): boolean =>
    (type === undefined || base.type === type) && hooks.includes(base.hook);

/** Refuses bits of an attribute that nobody knows. */
const onlyBits =
  (type: number, bits: number) =>
  (sent: Sent): void => {
    if ((sent.number(type) & ~bits) !== 0) throw new Refusal(E.EINVAL);
  };

/** How many bytes `meta` and `ct` load, where it is not four, by the numbers of linux/netfilter/nf_tables.h; and may set. */
const META: Readonly<Record<number, number>> = {
  ...{ 1: 2, 6: 16, 7: 16, 8: 2, 9: 2, 12: 1, 15: 1, 16: 1, 17: 16, 18: 16, 19: 1 },
};
const META_SET: Readonly<Record<number, number>> = { 2: 4, 3: 4, 12: 1, 14: 4, 19: 1 };
const CT: Readonly<Record<number, number>> = {
  1: 1,
  6: 16,
  7: 1,
  10: 1,
  11: 2,
  12: 2,
  13: 16,
  17: 2,
  21: 16,
  22: 16,
};
const [LAST_META_KEY, LAST_CT_KEY] = [34, 23];
const CT_ADDRESSES = [8, 9];
const CT_COUNTERS = [14, 15, 16];
/** Keys of one direction of a connection, and keys of both. */
const CT_OF_A_DIRECTION = [8, 9, 11, 12, 19, 20, 21, 22];
const CT_OF_EITHER = [14, 15, 16, 17, 10, 7];

/** `meta` and `ct`, whose attributes have other numbers: one of them is there, the register to fill or the one to read. */
const either =
  (key: number, dreg: number, sreg: number) =>
  (sent: Sent): void => {
    sent.need(key);
    if (sent.has(dreg) === sent.has(sreg)) throw new Refusal(E.EINVAL);
  };

function ctLength(sent: Sent, key: number): number {
  if (key > LAST_CT_KEY) throw new Refusal(E.EOPNOTSUPP);
  const isDirected = CT_OF_A_DIRECTION.includes(key);
  if (!CT_OF_EITHER.includes(key) && isDirected !== sent.has(3)) throw new Refusal(E.EINVAL);
  if (CT_ADDRESSES.includes(key)) return sent.table.family === FAMILY.IP ? 4 : 16;
  return CT_COUNTERS.includes(key) ? 8 : (CT[key] ?? 4);
}

/** What a random number or a hash is brought to. */
function checkModulus(modulus: number, offset: number): void {
  if (modulus === 0) throw new Refusal(E.ERANGE);
  if (offset + modulus - 1 > 0xffff_ffff) throw new Refusal(E.EOVERFLOW);
}

/** It has nothing to be listed but its name. */
const NOTRACK = 'notrack';

/** By their names. */
const KINDS: Readonly<Record<string, Kind>> = {
  fib: {
    check(sent) {
      sent.need(2);
      if (sent.number(2) < 1 || sent.number(2) > 3) throw new Refusal(E.EOPNOTSUPP);
    },
    init(sent) {
      const [DREG, RESULT, FLAGS] = [1, 2, 3];
      const [SADDR, DADDR, IIF, OIF, ALL] = [1, 2, 8, 16, 0x3f];
      sent.need(DREG, FLAGS);
      const flags = sent.number(FLAGS);
      const has = (flag: number): boolean => (flags & flag) !== 0;
      if ((flags & ~ALL) !== 0 || has(SADDR) === has(DADDR) || (has(IIF) && has(OIF)))
        throw new Refusal(E.EINVAL);
      const isAddressType = sent.number(RESULT) === 3;
      if (!isAddressType && has(OIF)) throw new Refusal(E.EINVAL);
      sent.store(DREG, sent.number(RESULT) === 2 ? 16 : 4);
      sent.keep(RESULT);
      sent.keep(FLAGS);
      if (!isAddressType || has(IIF)) return { isAllowedIn: onlyIn(undefined, 0, 1, 2) };
      return { isAllowedIn: has(OIF) ? onlyIn(undefined, 2, 3, 4) : onlyIn(undefined, 0, 1, 2, 3, 4) };
    },
  },
  payload: {
    check(sent) {
      sent.need(2, 3, 4);
      if (sent.number(2) > 4) throw new Refusal(E.EOPNOTSUPP);
    },
    init(sent) {
      const [DREG, BASE, OFFSET, LEN] = [1, 2, 3, 4];
      sent.keep(BASE);
      sent.keepSmall(OFFSET);
      sent.store(DREG, sent.keepSmall(LEN));
    },
  },
  meta: {
    check: either(2, 1, 3),
    init(sent) {
      const [DREG, KEY, SREG] = [1, 2, 3];
      const key = sent.keep(KEY);
      const length = sent.has(DREG) ? (META[key] ?? 4) : META_SET[key];
      if (key > LAST_META_KEY || length === undefined) throw new Refusal(E.EOPNOTSUPP);
      if (sent.has(DREG)) sent.store(DREG, length);
      else sent.load(SREG, length);
    },
  },
  ct: {
    check: either(2, 1, 4),
    init(sent) {
      const [DREG, KEY, DIRECTION, SREG] = [1, 2, 3, 4];
      const length = ctLength(sent, sent.keep(KEY));
      if (sent.has(DREG)) sent.store(DREG, length);
      else sent.load(SREG, length);
      sent.keepBytes(DIRECTION);
    },
  },
  cmp: {
    check(sent) {
      sent.need(1, 2, 3);
      if (sent.number(2) > 5) throw new Refusal(E.EINVAL);
      sent.value(3);
    },
    init(sent) {
      const [SREG, OP, VALUE] = [1, 2, 3];
      sent.load(SREG, sent.value(VALUE));
      sent.keep(OP);
    },
  },
  bitwise: {
    check: (sent) => sent.need(1, 2, 3),
    init(sent) {
      const [SREG, DREG, LEN, MASK, XOR, OP] = [1, 2, 3, 4, 5, 6];
      const length = sent.keepSmall(LEN);
      sent.load(SREG, length);
      sent.store(DREG, length);
      // Of masks alone.
      if (sent.keep(OP) !== 0) throw new Refusal(E.EOPNOTSUPP);
      sent.need(MASK, XOR);
      sent.value(MASK, length);
      sent.value(XOR, length);
    },
  },
  byteorder: {
    init(sent) {
      const [SREG, DREG, OP, LEN, SIZE] = [1, 2, 3, 4, 5];
      sent.need(SREG, DREG, OP, LEN, SIZE);
      if (sent.keep(OP) > 1 || ![2, 4, 8].includes(sent.keep(SIZE))) throw new Refusal(E.EINVAL);
      const length = sent.keepSmall(LEN);
      sent.load(SREG, length);
      sent.store(DREG, length);
    },
  },
  numgen: {
    check(sent) {
      sent.need(1, 2, 3);
      if (sent.number(3) > 1) throw new Refusal(E.EINVAL);
    },
    init(sent) {
      const [DREG, MODULUS, TYPE, OFFSET] = [1, 2, 3, 4];
      sent.keep(TYPE);
      checkModulus(sent.keep(MODULUS), sent.keep(OFFSET));
      sent.store(DREG, 4);
    },
  },
  /** Jenkins' hash. A seed that is not sent is the kernel's secret, and not listed. */
  hash: {
    check(sent) {
      if (sent.number(7) !== 0) throw new Refusal(E.EOPNOTSUPP);
      sent.need(1, 2, 3, 4);
    },
    init(sent) {
      const [SREG, DREG, LEN, MODULUS, SEED, OFFSET, TYPE] = [1, 2, 3, 4, 5, 6, 7];
      const length = sent.number(LEN);
      if (length === 0 || length > 0xff) throw new Refusal(E.ERANGE);
      sent.load(SREG, length);
      checkModulus(sent.number(MODULUS), sent.number(OFFSET));
      sent.store(DREG, 4);
      sent.keep(LEN);
      sent.keep(MODULUS);
      if (sent.has(SEED)) sent.keep(SEED);
      if (sent.number(OFFSET) !== 0) sent.keep(OFFSET);
      sent.keep(TYPE);
    },
  },
  lookup: {
    check: onlyBits(5, 1),
    init(sent) {
      const [SET, SREG, DREG, SET_ID, FLAGS] = [1, 2, 3, 4, 5];
      sent.need(SET, SREG);
      const set = sent.set(SET, SET_ID);
      sent.load(SREG, set.keyLength);
      const isMap = isFlagged(set, SET_FLAG.MAP);
      if (sent.has(DREG)) {
        if (sent.number(FLAGS) !== 0 || !isMap) throw new Refusal(E.EINVAL);
        if (set.dataType !== DATA_VERDICT) sent.store(DREG, set.dataLength);
        else if (sent.keep(DREG) !== 0) throw new Refusal(E.EINVAL);
      } else if (isMap && isFlagged(set, SET_FLAG.ANONYMOUS)) throw new Refusal(E.EINVAL);
      sent.keep(FLAGS);
      return { set, binding: sent.bind(set, isMap) };
    },
  },
  dynset: {
    check: onlyBits(9, 3),
    init(sent) {
      const [SET, SET_ID, OP, KEY, TIMEOUT, FLAGS] = [1, 2, 3, 4, 6, 9];
      sent.need(SET, OP, KEY);
      const set = sent.set(SET, SET_ID);
      if (!set.growsWithRules) throw new Refusal(E.EOPNOTSUPP);
      if (isFlagged(set, SET_FLAG.CONSTANT)) throw new Refusal(E.EBUSY);
      if (sent.keep(OP) > 2) throw new Refusal(E.EOPNOTSUPP);
      if (sent.has(TIMEOUT) && !isFlagged(set, SET_FLAG.TIMEOUT)) throw new Refusal(E.EOPNOTSUPP);
      sent.load(KEY, set.keyLength);
      if (isFlagged(set, SET_FLAG.MAP)) throw new Refusal(E.EINVAL);
      sent.keepBytes(TIMEOUT, Buffer.alloc(8));
      sent.keep(FLAGS);
      // It stays so also where the transaction is refused.
      if (set.size === 0) set.size = 0xffff;
      return { set, binding: sent.bind(set, false) };
    },
  },
  immediate: {
    init(sent) {
      const [DREG, VALUE] = [1, 2];
      sent.need(DREG, VALUE);
      if (sent.number(DREG) !== 0) return sent.store(DREG, sent.value(VALUE));
      sent.keep(DREG);
      const { chain } = sent.verdict(VALUE);
      if (!chain) return;
      lookForCircle(sent.rule.context, sent.rule.chain, chain);
      sent.rule.transaction.jumpTo(chain);
      return { target: chain };
    },
  },
  nat: {
    check: onlyBits(7, 0x7f),
    init(sent) {
      const [TYPE, FAMILY_OF, ADDR_MIN, ADDR_MAX, PROTO_MIN, PROTO_MAX, FLAGS] = [1, 2, 3, 4, 5, 6, 7];
      const [MAP_IPS, PROTO_SPECIFIED] = [1, 2];
      if (!sent.has(TYPE) || (!sent.has(ADDR_MIN) && !sent.has(PROTO_MIN))) throw new Refusal(E.EINVAL);
      const type = sent.keep(TYPE);
      if (type > 1) throw new Refusal(E.EINVAL);
      sent.need(FAMILY_OF);
      const family = sent.keep(FAMILY_OF);
      if (sent.table.family !== FAMILY.INET && sent.table.family !== family) throw new Refusal(E.EOPNOTSUPP);
      const load = (least: number, most: number, length: number, flag: number): number => {
        if (!sent.has(least)) return 0;
        sent.load(least, length);
        sent.load(sent.has(most) ? most : least, length, most);
        return flag;
      };
      const flags =
        load(ADDR_MIN, ADDR_MAX, addressLength(family), MAP_IPS) |
        load(PROTO_MIN, PROTO_MAX, 2, PROTO_SPECIFIED) |
        sent.number(FLAGS);
      if (flags !== 0) sent.list(FLAGS, flags);
      return {
        isAllowedIn:
          type === 1
            ? onlyIn('nat', HOOK.PREROUTING, HOOK.OUTPUT)
            : onlyIn('nat', HOOK.POSTROUTING, HOOK.INPUT),
      };
    },
  },
  masq: {
    check: onlyBits(1, 0x7f),
    init(sent) {
      if (sent.number(1) !== 0) sent.keep(1);
      return { isAllowedIn: onlyIn('nat', HOOK.POSTROUTING) };
    },
  },
  reject: {
    init(sent) {
      const [TYPE, CODE] = [1, 2];
      sent.need(TYPE);
      const type = sent.keep(TYPE);
      if (type > 2) throw new Refusal(E.EINVAL);
      if (type !== 1) sent.need(CODE);
      sent.keepBytes(CODE);
      return { isAllowedIn: onlyIn(undefined, HOOK.PREROUTING, HOOK.INPUT, HOOK.FORWARD, HOOK.OUTPUT) };
    },
  },
  counter: {
    init(sent) {
      for (const type of [1, 2]) sent.keepBytes(type, Buffer.alloc(8));
    },
  },
  objref: {
    init(sent) {
      const [TYPE, NAME] = [1, 2];
      sent.need(TYPE, NAME);
      const counter = sent.table.counters.get(sent.text(NAME));
      if (sent.keep(TYPE) !== 1 || !counter) throw new Refusal(E.ENOENT);
      sent.keepBytes(NAME);
      sent.rule.transaction.use(counter, 1);
      return { counter };
    },
  },
  [NOTRACK]: { init: () => undefined },
};
