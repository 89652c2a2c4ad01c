import { E } from '../../netlink/numbers.js';
import { Refusal } from '../../netlink/attributes.js';
import { asSent, HOOK, onlyHooks, type Kind, type Meaning } from './kind.js';
import { ctLength, metaLength, metaSetLength } from './lengths.js';
import type { SentExpression } from './sent-expression.js';

/* Expressions that load something into a register, change it or compare it. */

const { PREROUTING, INPUT, FORWARD, OUTPUT, POSTROUTING } = HOOK;
/** EOVERFLOW of errno.h. */
const EOVERFLOW = 75;

function checkFib(sent: SentExpression): void {
  const [RESULT, LAST] = [2, 3];
  sent.need(RESULT);
  const result = sent.be32(RESULT)!;
  if (result < 1 || result > LAST) throw new Refusal(E.EOPNOTSUPP);
}

function fib(sent: SentExpression): Meaning {
  const [DREG, RESULT, FLAGS] = [1, 2, 3];
  const [SADDR, DADDR, IIF, OIF, ALL] = [1, 2, 8, 16, 0x3f];
  const [NAME, ADDRESS_TYPE] = [2, 3];
  sent.need(DREG, FLAGS);
  const flags = sent.be32(FLAGS)!;
  const both = (one: number, other: number): boolean => (flags & one) !== 0 && (flags & other) !== 0;
  if (flags === 0 || (flags & ~ALL) !== 0 || both(SADDR, DADDR) || both(IIF, OIF))
    throw new Refusal(E.EINVAL);
  if ((flags & (SADDR | DADDR)) === 0) throw new Refusal(E.EINVAL);
  const result = sent.be32(RESULT)!;
  if (result !== ADDRESS_TYPE && (flags & OIF) !== 0) throw new Refusal(E.EINVAL);
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
  if (sent.be32(BASE)! > 4) throw new Refusal(E.EOPNOTSUPP);
  if (sent.has(SREG) === sent.has(DREG)) throw new Refusal(E.EINVAL);
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
    if (sent.has(dreg) === sent.has(sreg)) throw new Refusal(E.EINVAL);
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
  if (needsDirection !== undefined && needsDirection !== sent.has(DIRECTION)) throw new Refusal(E.EINVAL);
  if (sent.has(DREG)) sent.store(DREG, length);
  else sent.load(SREG, length);
  sent.keepBytes(DIRECTION);
  return {};
}

function checkCmp(sent: SentExpression): void {
  const [SREG, OP, DATA, GTE] = [1, 2, 3, 5];
  sent.need(SREG, OP, DATA);
  if (sent.be32(OP)! > GTE) throw new Refusal(E.EINVAL);
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
  if (sent.keep(OP) > 1) throw new Refusal(E.EINVAL);
  return {};
}

function bitwise(sent: SentExpression): Meaning {
  const [SREG, DREG, LEN, MASK, XOR, OP, DATA, SREG2] = [1, 2, 3, 4, 5, 6, 7, 8];
  const length = sent.keepSmall(LEN);
  sent.load(SREG, length);
  sent.store(DREG, length);
  const op = sent.be32(OP) ?? 0;
  if (op > 5) throw new Refusal(E.EOPNOTSUPP);
  sent.list(OP, op);
  if (op === 0) {
    if (sent.has(DATA) || sent.has(SREG2)) throw new Refusal(E.EINVAL);
    sent.need(MASK, XOR);
    sent.value(MASK, length);
    sent.value(XOR, length);
  } else for (const type of [MASK, XOR, DATA, SREG2]) sent.keepBytes(type);
  return {};
}

function byteorder(sent: SentExpression): Meaning {
  const [SREG, DREG, OP, LEN, SIZE] = [1, 2, 3, 4, 5];
  sent.need(SREG, DREG, OP, LEN, SIZE);
  if (sent.keep(OP) > 1 || ![2, 4, 8].includes(sent.keep(SIZE))) throw new Refusal(E.EINVAL);
  const length = sent.keepSmall(LEN);
  sent.load(SREG, length);
  sent.store(DREG, length);
  return {};
}

function checkNumgen(sent: SentExpression): void {
  const [DREG, MODULUS, TYPE] = [1, 2, 3];
  sent.need(DREG, MODULUS, TYPE);
  if (sent.be32(TYPE)! > 1) throw new Refusal(E.EINVAL);
}

function numgen(sent: SentExpression): Meaning {
  const [DREG, MODULUS, TYPE, OFFSET] = [1, 2, 3, 4];
  sent.keep(TYPE);
  const [modulus, offset] = [sent.keep(MODULUS), sent.keep(OFFSET)];
  if (modulus === 0) throw new Refusal(E.ERANGE);
  if (offset + modulus - 1 > 0xffff_ffff) throw new Refusal(EOVERFLOW);
  sent.store(DREG, 4);
  return {};
}

const HASH = { SREG: 1, DREG: 2, LEN: 3, MODULUS: 4, SEED: 5, OFFSET: 6, TYPE: 7 } as const;

function checkHash(sent: SentExpression): void {
  if ((sent.be32(HASH.TYPE) ?? 0) !== 0) throw new Refusal(E.EOPNOTSUPP);
  sent.need(HASH.SREG, HASH.DREG, HASH.LEN, HASH.MODULUS);
}

/** Jenkins' hash. A seed that is not sent is the kernel's secret, and not listed. */
function hash(sent: SentExpression): Meaning {
  const length = sent.be32(HASH.LEN)!;
  if (length === 0 || length > 0xff) throw new Refusal(E.ERANGE);
  sent.load(HASH.SREG, length);
  const [modulus, offset] = [sent.be32(HASH.MODULUS)!, sent.be32(HASH.OFFSET) ?? 0];
  if (modulus === 0) throw new Refusal(E.ERANGE);
  if (offset + modulus - 1 > 0xffff_ffff) throw new Refusal(EOVERFLOW);
  sent.store(HASH.DREG, 4);
  sent.keep(HASH.LEN);
  sent.keep(HASH.MODULUS);
  if (sent.has(HASH.SEED)) sent.keep(HASH.SEED);
  if (offset !== 0) sent.keep(HASH.OFFSET);
  sent.keep(HASH.TYPE);
  return {};
}

/** By their names. */
export const LOADING: Readonly<Record<string, Kind>> = {
  fib: { check: checkFib, init: fib },
  payload: { check: checkPayload, init: payload },
  meta: { check: checkEither(2, 1, 3), init: meta },
  ct: { check: checkEither(2, 1, 4), init: ct },
  cmp: { check: checkCmp, init: cmp },
  range: { init: range },
  bitwise: { check: (sent) => sent.need(1, 2, 3), init: bitwise },
  byteorder: { init: byteorder },
  numgen: { check: checkNumgen, init: numgen },
  hash: { check: checkHash, init: hash },
};
