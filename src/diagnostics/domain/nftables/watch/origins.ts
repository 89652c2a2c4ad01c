import type { Expression } from '../../../../domain/nftables/kernel/ruleset.js';

/** What a byte of a register was made of: a byte of the source, masked, or of the interface's name. */
export interface Origin {
  readonly of: 'source' | 'interface';
  readonly byte: number;
  readonly mask: number;
}

/** By byte of the registers. Missing: it was made of neither. */
export type Origins = ReadonlyMap<number, Origin>;

export const NO_ORIGINS: Origins = new Map();

export const INTERFACE_NAME_LENGTH = 16;

/** Where the packet's source is in its header. */
export interface SourcePlace {
  readonly offset: number;
  readonly length: number;
}

/** What the registers hold after an expression. */
export function originsAfter(expression: Expression, origins: Origins, source: SourcePlace): Origins {
  switch (expression.kind) {
    case 'payload':
      return loaded(expression, origins, source);
    case 'meta': {
      const { key, to } = expression;
      return key === 'iifname'
        ? written(origins, to, INTERFACE_NAME_LENGTH, 'interface')
        : written(origins, to, 4);
    }
    case 'ct':
      return expression.key === 'original saddr'
        ? written(origins, expression.to, source.length, 'source')
        : written(origins, expression.to, 16);
    case 'bitwise':
      return masked(expression, origins);
    case 'byteorder':
      return written(origins, expression.to, expression.length);
    case 'immediate':
      return written(origins, expression.to, expression.value.length);
    case 'fib':
    case 'random':
      return written(origins, expression.to, 4);
    default:
      return origins;
  }
}

/** Whether some byte there was made of the source or the interface. */
export function touches(origins: Origins, from: number, length: number): boolean {
  for (let at = from; at < from + length; at++) if (origins.has(at)) return true;
  return false;
}

/** How many bits of the source, from its first, stand there and nothing else; undefined if it is not that. */
export function prefixAt(origins: Origins, from: number, length: number): number | undefined {
  let bits = 0;
  let isOver = false;
  for (let byte = 0; byte < length; byte++) {
    const origin = origins.get(from + byte);
    if (origin?.of !== 'source' || origin.byte !== byte) return undefined;
    const ones = PREFIXES.indexOf(origin.mask);
    if (ones < 0 || (isOver && ones > 0)) return undefined;
    isOver ||= ones < 8;
    bits += ones;
  }
  return bits;
}

const PREFIXES: readonly number[] = [0, 0x80, 0xc0, 0xe0, 0xf0, 0xf8, 0xfc, 0xfe, 0xff];

function loaded(
  { to, base, offset, length }: Extract<Expression, { kind: 'payload' }>,
  origins: Origins,
  source: SourcePlace,
): Origins {
  const left = new Map(written(origins, to, length));
  for (let at = 0; at < length; at++) {
    const byte = offset + at - source.offset;
    if (base === 'network' && byte >= 0 && byte < source.length)
      left.set(to + at, { of: 'source', byte, mask: 0xff });
  }
  return left;
}

/** The registers without what was in whole words of them, and with an origin there if one is given. */
function written(origins: Origins, to: number, length: number, of?: Origin['of']): Origins {
  if (origins.size === 0 && of === undefined) return origins;
  const left = new Map(origins);
  for (let byte = 0; byte < Math.ceil(length / 4) * 4; byte++) left.delete(to + byte);
  if (of !== undefined)
    for (let byte = 0; byte < length; byte++) left.set(to + byte, { of, byte, mask: 0xff });
  return left;
}

function masked({ from, to, mask }: Extract<Expression, { kind: 'bitwise' }>, origins: Origins): Origins {
  if (origins.size === 0) return origins;
  const left = new Map(written(origins, to, mask.length));
  mask.forEach((bits, at) => {
    const origin = origins.get(from + at);
    if (origin) left.set(to + at, { ...origin, mask: origin.mask & bits });
  });
  return left;
}
