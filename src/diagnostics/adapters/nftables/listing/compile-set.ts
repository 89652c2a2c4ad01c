import type { KernelVerdict, KernelElement, KernelSet } from '../../../../domain/nftables/kernel/ruleset.js';
import { after, bounds, encoded, LENGTHS, type DataType } from './encode-value.js';
import { held, kindOf, type Value } from './listing.js';

/** A set with its elements, as the kernel would list it. */
export interface CompiledSet {
  readonly set: KernelSet;
  readonly elements: readonly KernelElement[];
}

/**
 * A set of these types of keys and values.
 * @param values undefined: a set; `verdict`: a verdict map
 * @returns undefined where an element is not understood
 */
export function compileSet(
  name: string,
  types: readonly DataType[],
  values: readonly DataType[] | 'verdict' | undefined,
  listed: readonly Value[],
  isInterval: boolean,
): CompiledSet | undefined {
  const keyLength =
    types.length === 1 ? LENGTHS[types[0]!] : types.reduce((sum, type) => sum + padded(LENGTHS[type]), 0);
  const hasRanges = isInterval || listed.some((each) => rangesOf(keyOf(each)));
  const lengths = types.map((type) => LENGTHS[type]);
  const ranges = types.length === 1 ? ('single' as const) : lengths;
  const set: KernelSet = { name, keyLength, ...(hasRanges && { ranges }) };
  const elements: KernelElement[] = [];
  for (const each of listed) {
    const rest = values === undefined ? {} : valueOf(Array.isArray(each) ? each[1] : undefined, values);
    const keys = elementKeys(keyOf(each), types);
    if (!rest || !keys) return undefined;
    const comment = held<{ readonly comment?: string }>(
      Array.isArray(each) ? each[0] : each,
      'elem',
    )?.comment;
    const more = { ...rest, ...(comment !== undefined && { comment }) };
    if (keys === 'others') elements.push(more);
    else if (!hasRanges) elements.push({ key: keys[0], ...more });
    else if (ranges === 'single') {
      const end = after(keys[1]);
      elements.push({ key: keys[0], ...more }, ...(end ? [{ key: end, isEnd: true } as const] : []));
    } else elements.push({ key: keys[0], lastKey: keys[1], ...more });
  }
  return { set, elements };
}

/** The key of an element, without what else is said of it. */
function keyOf(element: Value): Value {
  const key: Value = Array.isArray(element) ? element[0] : element;
  return held<{ readonly val: Value }>(key, 'elem')?.val ?? key;
}

function rangesOf(key: Value): boolean {
  const parts = held<readonly Value[]>(key, 'concat') ?? [key];
  return parts.some((part) => ['prefix', 'range'].includes(kindOf(part) ?? ''));
}

/** First and last key. */
function elementKeys(
  key: Value,
  types: readonly DataType[],
): readonly [Uint8Array, Uint8Array] | 'others' | undefined {
  if (key === '*') return 'others';
  const parts = held<readonly Value[]>(key, 'concat') ?? [key];
  if (parts.length !== types.length) return undefined;
  const limits = parts.map((part, at) => {
    const one = bounds(part, types[at]!);
    const exact = one ? undefined : encoded(part, types[at]!);
    return one ?? (exact && ([exact, exact] as const));
  });
  const whole = limits.flatMap((limit) => (limit ? [limit] : []));
  if (whole.length < limits.length) return undefined;
  if (types.length === 1) return whole[0];
  return [joined(whole.map(([first]) => first)), joined(whole.map(([, last]) => last))];
}

/** Each part is padded to words of four bytes. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + padded(part.length), 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += padded(part.length);
  }
  return bytes;
}

export function padded(length: number): number {
  return Math.ceil(length / 4) * 4;
}

function valueOf(
  value: Value,
  types: readonly DataType[] | 'verdict',
): Pick<KernelElement, 'value' | 'verdict'> | undefined {
  if (types === 'verdict') {
    const verdict = verdictOf(value);
    return verdict && { verdict };
  }
  const parts = held<readonly Value[]>(value, 'concat') ?? [value];
  const bytes = parts.map((part, at) => (types[at] ? encoded(part, types[at]) : undefined));
  const known = bytes.flatMap((part) => (part ? [part] : []));
  if (known.length < types.length) return undefined;
  return { value: types.length === 1 ? known[0]! : joined(known) };
}

const CODES: ReadonlySet<string> = new Set(['drop', 'accept', 'return', 'continue', 'jump', 'goto', 'queue']);

/** `{ "drop": null }`, `{ "goto": { "target": … } }`. */
export function verdictOf(value: Value): KernelVerdict | undefined {
  const code = kindOf(value) ?? '';
  if (!CODES.has(code)) return undefined;
  const chain = held<{ readonly target: string }>(held(value, code), 'target') as unknown;
  return { code: code as KernelVerdict['code'], ...(typeof chain === 'string' && { chain }) };
}
