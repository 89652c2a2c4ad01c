import { EINVAL, ENOENT, EOPNOTSUPP } from '../../netlink/numbers.js';
import { Refused, type Attributes } from '../attributes.js';
import { DATA, VERDICT, VERDICT_CODE } from '../numbers.js';
import type { Table, Verdict } from '../objects.js';

const { JUMP, GOTO } = VERDICT_CODE;
const CODES: readonly number[] = Object.values(VERDICT_CODE);

/** The verdict that data is. @throws Refused if it is none, or leads to a chain that it cannot lead to */
export function verdictIn(table: Table, data: Attributes): Verdict {
  const nest = data.nested(DATA.VERDICT);
  const code = nest?.u32(VERDICT.CODE);
  if (!nest || code === undefined) throw new Refused(EINVAL);
  const signed = code | 0;
  if (!CODES.includes(signed)) throw new Refused(EINVAL);
  if (signed !== JUMP && signed !== GOTO) return { code: signed };
  const name = nest.text(VERDICT.CHAIN);
  if (name === undefined) throw new Refused(EINVAL);
  const chain = table.chains.get(name);
  if (!chain) throw new Refused(ENOENT);
  if (chain.base) throw new Refused(EOPNOTSUPP);
  return { code: signed, chain };
}
