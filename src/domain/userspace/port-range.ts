/** The ports that proxy sockets may have, both ends included. `low` 0: the kernel chooses. */
export interface PortRange {
  readonly low: number;
  readonly high: number;
}

const MAX_PORT = 65535;
const FORM = /^(\d{1,9})(?:([-+])(\d{1,9}))?$/;

/** Reads `N`, `LOW-HIGH` or `LOW+OFFSET`; an empty text leaves the choice to the kernel. Undefined when it is none of these. */
export function parsePortRange(text: string): PortRange | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return { low: 0, high: 0 };
  const [, first, sign, second] = FORM.exec(trimmed) ?? [];
  if (first === undefined) return undefined;
  const low = Number(first);
  const high = sign === undefined ? low : Number(second) + (sign === '+' ? low : 0);
  return high < low || high > MAX_PORT ? undefined : { low, high };
}
