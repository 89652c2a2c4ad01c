import { E } from '../../netlink/numbers.js';
import { Refusal } from '../../netlink/attributes.js';
import { FAMILY } from '../numbers.js';

/* How many bytes expressions load, by the numbers of linux/netfilter/nf_tables.h. */

export function familyAddressLength(family: number): 4 | 16 {
  return family === FAMILY.IP ? 4 : 16;
}

const META: Readonly<Record<number, number>> = {
  1: 2,
  6: 16,
  7: 16,
  8: 2,
  9: 2,
  12: 1,
  15: 1,
  16: 1,
  17: 16,
  18: 16,
  19: 1,
};
const LAST_META_KEY = 34;
const META_SET: Readonly<Record<number, number>> = { 2: 4, 3: 4, 12: 1, 14: 4, 19: 1 };

/** Of what `meta` loads. @throws Refusal */
export function metaLength(key: number): number {
  if (key > LAST_META_KEY) throw new Refusal(E.EOPNOTSUPP);
  return META[key] ?? 4;
}

/** Of what `meta` sets. @throws Refusal */
export function metaSetLength(key: number): number {
  const length = META_SET[key];
  if (length === undefined) throw new Refusal(E.EOPNOTSUPP);
  return length;
}

const CT: Readonly<Record<number, number>> = {
  ...{
    0: 4,
    1: 1,
    2: 4,
    3: 4,
    4: 4,
    5: 4,
    6: 16,
    7: 1,
    10: 1,
    11: 2,
    12: 2,
    13: 16,
    14: 8,
    15: 8,
    16: 8,
    17: 2,
  },
  ...{ 18: 4, 19: 4, 20: 4, 21: 16, 22: 16, 23: 4 },
};
const CT_ADDRESSES = [8, 9];
/** Keys of one direction of a connection, and keys of both. */
const CT_OF_A_DIRECTION = [8, 9, 11, 12, 19, 20, 21, 22];
const CT_OF_EITHER = [14, 15, 16, 17, 10, 7];

/** Of what `ct` loads or sets, and whether it says for which direction; undefined where it may. @throws Refusal */
export function ctLength(
  key: number,
  family: number,
): { readonly length: number; readonly needsDirection?: boolean } {
  const length = CT_ADDRESSES.includes(key) ? familyAddressLength(family) : CT[key];
  if (length === undefined) throw new Refusal(E.EOPNOTSUPP);
  if (CT_OF_EITHER.includes(key)) return { length };
  return { length, needsDirection: CT_OF_A_DIRECTION.includes(key) };
}
