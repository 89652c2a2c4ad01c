import { E } from '../../netlink/numbers.js';
import { Refusal } from '../../netlink/attributes.js';
import { lookForCircle } from '../changes/reach.js';
import { DATA_VERDICT, SET_FLAG } from '../numbers.js';
import { isFlagged, type Binding, type NftSet } from '../objects.js';
import { HOOK, onlyHooks, onlyNat, type Kind, type Meaning } from './kind.js';
import { familyAddressLength } from './lengths.js';
import type { SentExpression } from './sent-expression.js';

/* Expressions that refer to other objects, and those that decide about packets. */

const { PREROUTING, INPUT, FORWARD, OUTPUT, POSTROUTING } = HOOK;
/** Of nat and masq. */
const RANGE_FLAGS = 0x7f;

/** Refuses bits of an attribute that nobody knows. */
const onlyBits =
  (type: number, bits: number) =>
  (sent: SentExpression): void => {
    if (((sent.be32(type) ?? 0) & ~bits) !== 0) throw new Refusal(E.EINVAL);
  };

function lookup(sent: SentExpression): Meaning {
  const [SET, SREG, DREG, SET_ID, FLAGS] = [1, 2, 3, 4, 5];
  sent.need(SET, SREG);
  const set = sent.set(SET, SET_ID);
  sent.load(SREG, set.keyLength);
  const flags = sent.be32(FLAGS) ?? 0;
  if (sent.has(DREG)) {
    if (flags !== 0 || !isFlagged(set, SET_FLAG.MAP)) throw new Refusal(E.EINVAL);
    if (set.dataType !== DATA_VERDICT) sent.store(DREG, set.dataLength);
    else if (sent.keep(DREG) !== 0) throw new Refusal(E.EINVAL);
  } else if (isFlagged(set, SET_FLAG.MAP) && isFlagged(set, SET_FLAG.ANONYMOUS)) throw new Refusal(E.EINVAL);
  sent.list(FLAGS, flags);
  return { set, binding: bind(sent, set, isFlagged(set, SET_FLAG.MAP)) };
}

function dynset(sent: SentExpression): Meaning {
  const [SET, SET_ID, OP, KEY, DATA, TIMEOUT, EXPR, FLAGS, EXPRESSIONS] = [1, 2, 3, 4, 5, 6, 7, 9, 10];
  sent.need(SET, OP, KEY);
  const set = sent.set(SET, SET_ID);
  if (isFlagged(set, SET_FLAG.OBJECT) || !set.growsWithRules) throw new Refusal(E.EOPNOTSUPP);
  if (isFlagged(set, SET_FLAG.CONSTANT)) throw new Refusal(E.EBUSY);
  const op = sent.keep(OP);
  const hasTimeouts = isFlagged(set, SET_FLAG.TIMEOUT);
  if (op > 2) throw new Refusal(E.EOPNOTSUPP);
  if (sent.has(TIMEOUT) && !hasTimeouts) throw new Refusal(E.EOPNOTSUPP);
  sent.load(KEY, set.keyLength);
  if (sent.has(DATA)) {
    if (!isFlagged(set, SET_FLAG.MAP) || set.dataType === DATA_VERDICT) throw new Refusal(E.EOPNOTSUPP);
    sent.load(DATA, set.dataLength);
  } else if (isFlagged(set, SET_FLAG.MAP)) throw new Refusal(E.EINVAL);
  if ((sent.has(EXPR) || sent.has(EXPRESSIONS)) && !isFlagged(set, SET_FLAG.EVAL))
    throw new Refusal(E.EINVAL);
  if (!sent.keepBytes(TIMEOUT)) sent.listed.set(TIMEOUT, Buffer.alloc(8));
  sent.keepBytes(EXPR);
  sent.keepBytes(EXPRESSIONS);
  sent.list(FLAGS, sent.be32(FLAGS) ?? 0);
  // It stays so also where the transaction is refused.
  if (set.size === 0) set.size = 0xffff;
  return { set, binding: bind(sent, set, false) };
}

function bind({ transaction, chain, context }: SentExpression, set: NftSet, isMapped: boolean): Binding {
  if (set.bindings.size > 0 && isFlagged(set, SET_FLAG.ANONYMOUS)) throw new Refusal(E.EBUSY);
  if (isMapped) for (const target of set.targets.keys()) lookForCircle(context, chain, target);
  const binding: Binding = { chain, isMapped };
  transaction.bind(set, binding);
  return binding;
}

function immediate(sent: SentExpression): Meaning {
  const [DREG, DATA] = [1, 2];
  sent.need(DREG, DATA);
  if (sent.be32(DREG) !== 0) {
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
  if (!sent.has(TYPE) || (!sent.has(ADDR_MIN) && !sent.has(PROTO_MIN))) throw new Refusal(E.EINVAL);
  const type = sent.keep(TYPE);
  if (type > 1) throw new Refusal(E.EINVAL);
  sent.need(FAMILY);
  const family = sent.keep(FAMILY);
  if (sent.chain.table.family !== 1 && sent.chain.table.family !== family) throw new Refusal(E.EOPNOTSUPP);
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
  const wanted = sent.be32(FLAGS) ?? 0;
  if ((flags | wanted) !== 0) sent.list(FLAGS, flags | wanted);
  return { isAllowedIn: type === 1 ? onlyNat(PREROUTING, OUTPUT) : onlyNat(POSTROUTING, INPUT) };
}

function masquerade(sent: SentExpression): Meaning {
  const [FLAGS, PROTO_MIN, PROTO_MAX] = [1, 2, 3];
  const flags = sent.be32(FLAGS) ?? 0;
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
  if (type > 2) throw new Refusal(E.EINVAL);
  if (type !== 1) sent.need(CODE);
  sent.keepBytes(CODE);
  return { isAllowedIn: onlyHooks(PREROUTING, INPUT, FORWARD, OUTPUT) };
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
  if (!found || sent.be32(TYPE) !== 1) throw new Refusal(E.ENOENT);
  sent.keepBytes(NAME);
  found.uses++;
  sent.transaction.also(() => found.uses--);
  return { counter: found };
}

/** By their names. */
export const ACTING: Readonly<Record<string, Kind>> = {
  lookup: { check: onlyBits(5, 1), init: lookup },
  dynset: { check: onlyBits(9, 3), init: dynset },
  immediate: { init: immediate },
  nat: { check: onlyBits(7, RANGE_FLAGS), init: nat },
  masq: { check: onlyBits(1, RANGE_FLAGS), init: masquerade },
  redir: { init: redirect },
  reject: { init: reject },
  counter: { init: counter },
  objref: { init: objref },
};
