import { E } from '../../netlink/numbers.js';
import { Refusal, type Attributes } from '../../netlink/attributes.js';
import { DATA, VERDICT, VERDICT_CODE } from '../numbers.js';
import type { Table, Verdict } from '../objects.js';

const { JUMP, GOTO } = VERDICT_CODE;
const CODES: readonly number[] = Object.values(VERDICT_CODE);

/** The verdict that data is. @throws Refusal if it is none, or leads to a chain that it cannot lead to */
export function verdictIn(table: Table, data: Attributes): Verdict {
  const nest = data.nested(DATA.VERDICT);
  const code = nest?.be32(VERDICT.CODE);
  if (!nest || code === undefined) throw new Refusal(E.EINVAL);
  const signed = code | 0;
  if (!CODES.includes(signed)) throw new Refusal(E.EINVAL);
  if (signed !== JUMP && signed !== GOTO) return { code: signed };
  const name = nest.text(VERDICT.CHAIN);
  if (name === undefined) throw new Refusal(E.EINVAL);
  const chain = table.chains.get(name);
  if (!chain) throw new Refusal(E.ENOENT);
  if (chain.base) throw new Refusal(E.EOPNOTSUPP);
  return { code: signed, chain };
}
