import { EBUSY, EINVAL, ENOENT, EOPNOTSUPP, ERANGE } from '../../netlink/numbers.js';
import { Refused } from '../attributes.js';
import { DATA_VERDICT, SET_FLAG } from '../numbers.js';
import { isFlagged, type BaseChain, type Binding, type Expression, type NftSet } from '../objects.js';
import { lookForCircle } from '../changes/reach.js';
import { ctLength, familyAddressLength, metaLength, metaSetLength } from './lengths.js';
import type { SentExpression } from './sent-expression.js';

type Meaning = Omit<Expression, 'name'>;

/** How a kind of expression is judged. Both throw Refused. */
export interface Kind {
  /** What the kernel looks at when it reads the expression, before it begins with the first one of the rule. */
  readonly check?: (sent: SentExpression) => void;
  /** The rest; notes what is to be listed. */
  readonly init: (sent: SentExpression) => Meaning;
  /** It is listed by its name alone. */
  readonly hasNoData?: true;
}

const HOOK = { PREROUTING: 0, INPUT: 1, FORWARD: 2, OUTPUT: 3, POSTROUTING: 4 } as const;
const { PREROUTING, INPUT, FORWARD, OUTPUT, POSTROUTING } = HOOK;

const onlyNat =
  (...hooks: readonly number[]) =>
  ({ type, hook }: BaseChain): boolean =>
    type === 'nat' && hooks.includes(hook);

const onlyHooks =
  (...hooks: readonly number[]) =>
  ({ hook }: BaseChain): boolean =>
    hooks.includes(hook);

/** Of which nothing is checked: they are listed as they were sent. */
function asSent(sent: SentExpression): Meaning {
  sent.keepAll();
  return {};
}

/** The same for those that load something. */
function loadingAsSent(sent: SentExpression): Meaning {
  sent.registers.storeAnything();
  return asSent(sent);
}

const UNCHECKED = [
  'log',
  'limit',
  'quota',
  'last',
  'queue',
  'match',
  'target',
  'tproxy',
  'synproxy',
  'connlimit',
  'dup',
  'fwd',
];
const UNCHECKED_LOADING = ['exthdr', 'hash', 'rt', 'socket', 'osf', 'xfrm', 'tunnel', 'inner'];

/** Refuses bits of an attribute that nobody knows. */
const onlyBits =
  (type: number, bits: number) =>
  (sent: SentExpression): void => {
    if (((sent.u32(type) ?? 0) & ~bits) !== 0) throw new Refused(EINVAL);
  };

function lookup(sent: SentExpression): Meaning {
  const [SET, SREG, DREG, SET_ID, FLAGS] = [1, 2, 3, 4, 5];
  sent.need(SET, SREG);
  const set = sent.set(SET, SET_ID);
  sent.load(SREG, set.keyLength);
  const flags = sent.u32(FLAGS) ?? 0;
  if (sent.has(DREG)) {
    if (flags !== 0 || !isFlagged(set, SET_FLAG.MAP)) throw new Refused(EINVAL);
    if (set.dataType !== DATA_VERDICT) sent.store(DREG, set.dataLength);
    else if (sent.keep(DREG) !== 0) throw new Refused(EINVAL);
  } else if (isFlagged(set, SET_FLAG.MAP) && isFlagged(set, SET_FLAG.ANONYMOUS)) throw new Refused(EINVAL);
  sent.list(FLAGS, flags);
  return { set, binding: bind(sent, set, isFlagged(set, SET_FLAG.MAP)) };
}

function dynset(sent: SentExpression): Meaning {
  const [SET, SET_ID, OP, KEY, DATA, TIMEOUT, EXPR, FLAGS, EXPRESSIONS] = [1, 2, 3, 4, 5, 6, 7, 9, 10];
  sent.need(SET, OP, KEY);
  const set = sent.set(SET, SET_ID);
  if (isFlagged(set, SET_FLAG.OBJECT) || !set.growsWithRules) throw new Refused(EOPNOTSUPP);
  if (isFlagged(set, SET_FLAG.CONSTANT)) throw new Refused(EBUSY);
  const op = sent.keep(OP);
  const hasTimeouts = isFlagged(set, SET_FLAG.TIMEOUT);
  if (op > 2) throw new Refused(EOPNOTSUPP);
  if (sent.has(TIMEOUT) && !hasTimeouts) throw new Refused(EOPNOTSUPP);
  sent.load(KEY, set.keyLength);
  if (sent.has(DATA)) {
    if (!isFlagged(set, SET_FLAG.MAP) || set.dataType === DATA_VERDICT) throw new Refused(EOPNOTSUPP);
    sent.load(DATA, set.dataLength);
  } else if (isFlagged(set, SET_FLAG.MAP)) throw new Refused(EINVAL);
  if ((sent.has(EXPR) || sent.has(EXPRESSIONS)) && !isFlagged(set, SET_FLAG.EVAL)) throw new Refused(EINVAL);
  if (!sent.keepBytes(TIMEOUT)) sent.listed.set(TIMEOUT, Buffer.alloc(8));
  sent.keepBytes(EXPR);
  sent.keepBytes(EXPRESSIONS);
  sent.list(FLAGS, sent.u32(FLAGS) ?? 0);
  // It stays so also where the transaction is refused.
  if (set.size === 0) set.size = 0xffff;
  return { set, binding: bind(sent, set, false) };
}

function bind({ transaction, chain, context }: SentExpression, set: NftSet, isMapped: boolean): Binding {
  if (set.bindings.size > 0 && isFlagged(set, SET_FLAG.ANONYMOUS)) throw new Refused(EBUSY);
  if (isMapped) for (const target of set.targets.keys()) lookForCircle(context, chain, target);
  const binding: Binding = { chain, isMapped };
  transaction.bind(set, binding);
  return binding;
}

function immediate(sent: SentExpression): Meaning {
  const [DREG, DATA] = [1, 2];
  sent.need(DREG, DATA);
  if (sent.u32(DREG) !== 0) {
    const register = sent.value(DATA);
    sent.store(DREG, register.length);
    return {};
  }
  sent.keep(DREG);
  const { chain } = sent.verdict(DATA);
  if (!chain) return {};
  lookForCircle(sent.context, sent.chain, chain);
  sent.transaction.jumpTo(chain);
  return { target: chain };
}

function nat(sent: SentExpression): Meaning {
  const [TYPE, FAMILY, ADDR_MIN, ADDR_MAX, PROTO_MIN, PROTO_MAX, FLAGS] = [1, 2, 3, 4, 5, 6, 7];
  const [MAP_IPS, PROTO_SPECIFIED] = [1, 2];
  if (!sent.has(TYPE) || (!sent.has(ADDR_MIN) && !sent.has(PROTO_MIN))) throw new Refused(EINVAL);
  const type = sent.keep(TYPE);
  if (type > 1) throw new Refused(EINVAL);
  sent.need(FAMILY);
  const family = sent.keep(FAMILY);
  if (sent.chain.table.family !== 1 && sent.chain.table.family !== family) throw new Refused(EOPNOTSUPP);
  let flags = 0;
  if (sent.has(ADDR_MIN)) {
    const length = familyAddressLength(family);
    sent.load(ADDR_MIN, length);
    sent.load(sent.has(ADDR_MAX) ? ADDR_MAX : ADDR_MIN, length, ADDR_MAX);
    flags |= MAP_IPS;
  }
  if (sent.has(PROTO_MIN)) {
    sent.load(PROTO_MIN, 2);
    sent.load(sent.has(PROTO_MAX) ? PROTO_MAX : PROTO_MIN, 2, PROTO_MAX);
    flags |= PROTO_SPECIFIED;
  }
  const wanted = sent.u32(FLAGS) ?? 0;
  if ((flags | wanted) !== 0) sent.list(FLAGS, flags | wanted);
  return { isAllowedIn: type === 1 ? onlyNat(PREROUTING, OUTPUT) : onlyNat(POSTROUTING, INPUT) };
}

function masquerade(sent: SentExpression): Meaning {
  const [FLAGS, PROTO_MIN, PROTO_MAX] = [1, 2, 3];
  const flags = sent.u32(FLAGS) ?? 0;
  if (flags !== 0) sent.list(FLAGS, flags);
  if (sent.has(PROTO_MIN)) {
    sent.load(PROTO_MIN, 2);
    sent.load(sent.has(PROTO_MAX) ? PROTO_MAX : PROTO_MIN, 2, PROTO_MAX);
  }
  return { isAllowedIn: onlyNat(POSTROUTING) };
}

function reject(sent: SentExpression): Meaning {
  const [TYPE, CODE] = [1, 2];
  sent.need(TYPE);
  const type = sent.keep(TYPE);
  if (type > 2) throw new Refused(EINVAL);
  if (type !== 1) sent.need(CODE);
  sent.keepBytes(CODE);
  return { isAllowedIn: onlyHooks(PREROUTING, INPUT, FORWARD, OUTPUT) };
}

function checkFib(sent: SentExpression): void {
  const [RESULT, LAST] = [2, 3];
  sent.need(RESULT);
  const result = sent.u32(RESULT)!;
  if (result < 1 || result > LAST) throw new Refused(EOPNOTSUPP);
}

function fib(sent: SentExpression): Meaning {
  const [DREG, RESULT, FLAGS] = [1, 2, 3];
  const [SADDR, DADDR, IIF, OIF, ALL] = [1, 2, 8, 16, 0x3f];
  const [NAME, ADDRESS_TYPE] = [2, 3];
  sent.need(DREG, FLAGS);
  const flags = sent.u32(FLAGS)!;
  const both = (one: number, other: number): boolean => (flags & one) !== 0 && (flags & other) !== 0;
  if (flags === 0 || (flags & ~ALL) !== 0 || both(SADDR, DADDR) || both(IIF, OIF)) throw new Refused(EINVAL);
  if ((flags & (SADDR | DADDR)) === 0) throw new Refused(EINVAL);
  const result = sent.u32(RESULT)!;
  if (result !== ADDRESS_TYPE && (flags & OIF) !== 0) throw new Refused(EINVAL);
  sent.store(DREG, result === NAME ? 16 : 4);
  sent.keep(RESULT);
  sent.keep(FLAGS);
  if (result !== ADDRESS_TYPE || (flags & IIF) !== 0)
    return { isAllowedIn: onlyHooks(PREROUTING, INPUT, FORWARD) };
  if ((flags & OIF) !== 0) return { isAllowedIn: onlyHooks(OUTPUT, POSTROUTING, FORWARD) };
  return { isAllowedIn: onlyHooks(PREROUTING, INPUT, FORWARD, OUTPUT, POSTROUTING) };
}

function checkPayload(sent: SentExpression): void {
  const [DREG, BASE, OFFSET, LEN, SREG] = [1, 2, 3, 4, 5];
  sent.need(BASE, OFFSET, LEN);
  if (sent.u32(BASE)! > 4) throw new Refused(EOPNOTSUPP);
  if (sent.has(SREG) === sent.has(DREG)) throw new Refused(EINVAL);
}

function payload(sent: SentExpression): Meaning {
  const [DREG, BASE, OFFSET, LEN, SREG] = [1, 2, 3, 4, 5];
  if (sent.has(SREG)) return asSent(sent);
  sent.keep(BASE);
  sent.keepSmall(OFFSET);
  sent.store(DREG, sent.keepSmall(LEN));
  return {};
}

/** Of `meta`, and of `ct`, whose attributes have other numbers. */
const checkEither =
  (key: number, dreg: number, sreg: number) =>
  (sent: SentExpression): void => {
    sent.need(key);
    if (sent.has(dreg) === sent.has(sreg)) throw new Refused(EINVAL);
  };

function meta(sent: SentExpression): Meaning {
  const [DREG, KEY, SREG] = [1, 2, 3];
  const key = sent.keep(KEY);
  if (sent.has(DREG)) sent.store(DREG, metaLength(key));
  else sent.load(SREG, metaSetLength(key));
  return {};
}

function ct(sent: SentExpression): Meaning {
  const [DREG, KEY, DIRECTION, SREG] = [1, 2, 3, 4];
  const key = sent.keep(KEY);
  const { length, needsDirection } = ctLength(key, sent.chain.table.family);
  if (needsDirection !== undefined && needsDirection !== sent.has(DIRECTION)) throw new Refused(EINVAL);
  if (sent.has(DREG)) sent.store(DREG, length);
  else sent.load(SREG, length);
  sent.keepBytes(DIRECTION);
  return {};
}

function checkCmp(sent: SentExpression): void {
  const [SREG, OP, DATA, GTE] = [1, 2, 3, 5];
  sent.need(SREG, OP, DATA);
  if (sent.u32(OP)! > GTE) throw new Refused(EINVAL);
  sent.value(DATA);
}

function cmp(sent: SentExpression): Meaning {
  const [SREG, OP, DATA] = [1, 2, 3];
  const { length } = sent.value(DATA);
  sent.load(SREG, length);
  sent.keep(OP);
  return {};
}

function range(sent: SentExpression): Meaning {
  const [SREG, OP, FROM, TO] = [1, 2, 3, 4];
  sent.need(SREG, OP, FROM, TO);
  const { length } = sent.value(FROM);
  sent.value(TO, length);
  sent.load(SREG, length);
  if (sent.keep(OP) > 1) throw new Refused(EINVAL);
  return {};
}

function bitwise(sent: SentExpression): Meaning {
  const [SREG, DREG, LEN, MASK, XOR, OP, DATA, SREG2] = [1, 2, 3, 4, 5, 6, 7, 8];
  const length = sent.keepSmall(LEN);
  sent.load(SREG, length);
  sent.store(DREG, length);
  const op = sent.u32(OP) ?? 0;
  if (op > 5) throw new Refused(EOPNOTSUPP);
  sent.list(OP, op);
  if (op === 0) {
    if (sent.has(DATA) || sent.has(SREG2)) throw new Refused(EINVAL);
    sent.need(MASK, XOR);
    sent.value(MASK, length);
    sent.value(XOR, length);
  } else for (const type of [MASK, XOR, DATA, SREG2]) sent.keepBytes(type);
  return {};
}

function byteorder(sent: SentExpression): Meaning {
  const [SREG, DREG, OP, LEN, SIZE] = [1, 2, 3, 4, 5];
  sent.need(SREG, DREG, OP, LEN, SIZE);
  if (sent.keep(OP) > 1 || ![2, 4, 8].includes(sent.keep(SIZE))) throw new Refused(EINVAL);
  const length = sent.keepSmall(LEN);
  sent.load(SREG, length);
  sent.store(DREG, length);
  return {};
}

function checkNumgen(sent: SentExpression): void {
  const [DREG, MODULUS, TYPE] = [1, 2, 3];
  sent.need(DREG, MODULUS, TYPE);
  if (sent.u32(TYPE)! > 1) throw new Refused(EINVAL);
}

function numgen(sent: SentExpression): Meaning {
  const [DREG, MODULUS, TYPE, OFFSET] = [1, 2, 3, 4];
  sent.keep(TYPE);
  const [modulus, offset] = [sent.keep(MODULUS), sent.keep(OFFSET)];
  if (modulus === 0) throw new Refused(ERANGE);
  if (offset + modulus - 1 > 0xffff_ffff) throw new Refused(EOVERFLOW);
  sent.store(DREG, 4);
  return {};
}

function redirect(sent: SentExpression): Meaning {
  sent.keepAll();
  return { isAllowedIn: onlyNat(PREROUTING, OUTPUT) };
}

function counter(sent: SentExpression): Meaning {
  for (const type of [1, 2]) if (!sent.keepBytes(type)) sent.listed.set(type, Buffer.alloc(8));
  return {};
}

function objref(sent: SentExpression): Meaning {
  const [TYPE, NAME] = [1, 2];
  sent.need(TYPE, NAME);
  sent.keep(TYPE);
  const found = sent.chain.table.counters.get(sent.text(NAME)!);
  if (!found || sent.u32(TYPE) !== 1) throw new Refused(ENOENT);
  sent.keepBytes(NAME);
  found.uses++;
  sent.transaction.also(() => found.uses--);
  return { counter: found };
}

/** EOVERFLOW of errno.h. */
const EOVERFLOW = 75;

/** Of nat and masq. */
const RANGE_FLAGS = 0x7f;

/** By their names. */
export const KINDS: Readonly<Record<string, Kind>> = {
  ...Object.fromEntries(UNCHECKED.map((name) => [name, { init: asSent }])),
  ...Object.fromEntries(UNCHECKED_LOADING.map((name) => [name, { init: loadingAsSent }])),
  notrack: { init: asSent, hasNoData: true },
  lookup: { check: onlyBits(5, 1), init: lookup },
  dynset: { check: onlyBits(9, 3), init: dynset },
  immediate: { init: immediate },
  nat: { check: onlyBits(7, RANGE_FLAGS), init: nat },
  masq: { check: onlyBits(1, RANGE_FLAGS), init: masquerade },
  redir: { init: redirect },
  reject: { init: reject },
  fib: { check: checkFib, init: fib },
  payload: { check: checkPayload, init: payload },
  meta: { check: checkEither(2, 1, 3), init: meta },
  ct: { check: checkEither(2, 1, 4), init: ct },
  cmp: { check: checkCmp, init: cmp },
  range: { init: range },
  bitwise: { check: (sent) => sent.need(1, 2, 3), init: bitwise },
  byteorder: { init: byteorder },
  numgen: { check: checkNumgen, init: numgen },
  counter: { init: counter },
  objref: { init: objref },
};
