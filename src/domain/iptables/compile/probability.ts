/** The kernel's match `statistic` compares 31 random bits with this share of them. */
const WHOLE = 0x80000000;
const DECIMALS = 11;
/** Of one in so many. */
const texts: string[] = [];

/**
 * A part of a whole, as iptables-save prints it: kube-proxy writes ten decimals (docs/spec/iptables.md §7.9), the tool keeps the
 * nearest of 2^31 steps (lround in libxt_statistic), and prints that with eleven.
 */
export function probability(part: number, whole: number): string {
  return part === 1 ? (texts[whole] ??= share(1, whole)) : share(part, whole);
}

function share(part: number, whole: number): string {
  return printed(Math.round(Number((part / whole).toFixed(10)) * WHOLE));
}

/** C's `%.11f`, which rounds an exact half to the even digit; `toFixed` rounds it up. */
function printed(steps: number): string {
  const scaled = BigInt(steps) * 10n ** BigInt(DECIMALS);
  const whole = BigInt(WHOLE);
  const rest = (scaled % whole) * 2n;
  let digits = scaled / whole;
  if (rest > whole || (rest === whole && digits % 2n === 1n)) digits++;
  const text = digits.toString().padStart(DECIMALS + 1, '0');
  return `${text.slice(0, -DECIMALS)}.${text.slice(-DECIMALS)}`;
}
