import { timeText } from '../domain/model/text.js';
import type { EjectionTimes } from './status/port-status.js';

/**
 * Durations in Go's text form (docs/internals/spec/configuration.md §6). The value is a number of milliseconds; fractions of it reach
 * down to the nanosecond.
 */
const NANOSECONDS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n, // U+00B5
  μs: 1_000n, // U+03BC
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
// Escaped: a bundler keeps a pattern unchanged, and V8 keeps a source with such a letter in twice the memory.
const TERM = /(\d*)(?:\.(\d*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;
const LONGEST = (1n << 63n) - 1n;
const PER_MILLISECOND = 1_000_000n;

/** Milliseconds, or undefined when the text is no duration or does not fit into 64 bits of nanoseconds. */
export function parseDuration(text: string): number | undefined {
  const negative = text.startsWith('-');
  const unsigned = /^[+-]/.test(text) ? text.slice(1) : text;
  if (unsigned === '0') return 0;
  if (unsigned === '') return undefined;
  let total = 0n;
  TERM.lastIndex = 0;
  while (TERM.lastIndex < unsigned.length) {
    const term = TERM.exec(unsigned);
    if (!term) return undefined;
    const [, whole = '', fraction = '', unit = ''] = term;
    if (whole === '' && fraction === '') return undefined;
    const size = NANOSECONDS[unit]!;
    total += BigInt(whole) * size + (BigInt(fraction) * size) / 10n ** BigInt(fraction.length);
    if (total > LONGEST) return undefined;
  }
  return total === 0n ? 0 : millisecondsOf(negative ? -total : total);
}

/** `0s`, `250ms`, `1.5µs`, `1m30s`, `24h0m0s`. */
export function formatDuration(milliseconds: number): string {
  const total = nanosecondsOf(milliseconds);
  if (total === 0n) return '0s';
  if (total < 0n) return `-${formatDuration(-milliseconds)}`;
  for (const unit of ['ns', 'µs', 'ms'] as const) {
    if (total < NANOSECONDS[unit]! * 1_000n) return decimal(total, NANOSECONDS[unit]!) + unit;
  }
  const hours = total / NANOSECONDS.h!;
  const minutes = (total % NANOSECONDS.h!) / NANOSECONDS.m!;
  const seconds = `${decimal(total % NANOSECONDS.m!, NANOSECONDS.s!)}s`;
  if (hours > 0n) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0n ? `${minutes}m${seconds}` : seconds;
}

function millisecondsOf(nanoseconds: bigint): number {
  return Number(nanoseconds / PER_MILLISECOND) + Number(nanoseconds % PER_MILLISECOND) / 1e6;
}

function nanosecondsOf(milliseconds: number): bigint {
  const whole = Math.trunc(milliseconds);
  return BigInt(whole) * PER_MILLISECOND + BigInt(Math.round((milliseconds - whole) * 1e6));
}

function decimal(value: bigint, unit: bigint): string {
  const fraction = String(value % unit)
    .padStart(String(unit).length - 1, '0')
    .replace(/0+$/, '');
  return unit === 1n || fraction === '' ? String(value / unit) : `${value / unit}.${fraction}`;
}

/** Follows the number of used endpoints. Empty if none is ejected. */
export function ejectedCountText(ejected = 0): string {
  return ejected === 0 ? '' : ` (${ejected} ejected)`;
}

/** Why an endpoint that is ready gets no new connections: on terminals and on the page alike. */
export function ejectionText({ since, until }: EjectionTimes): string {
  return `ejected since ${timeText(since)}, because the last connections to it got no answer; tried again at ${timeText(until)}`;
}

/** The text after the number of degraded service ports. Empty if all their frontends are their own. @param count frontends */
export function conflictCountText(count: number): string {
  if (count === 0) return '';
  return ` (${count} of their frontends belong to other Services)`;
}

/** The texts among these: without those that are false, undefined or empty. */
export function compactTexts(...texts: readonly (string | false | undefined)[]): readonly string[] {
  return texts.filter((text) => typeof text === 'string' && text !== '') as readonly string[];
}

/** `1 sync`, `2 syncs`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}
