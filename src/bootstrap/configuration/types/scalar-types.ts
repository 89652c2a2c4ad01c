import { formatDuration, parseDuration } from '../../../application/words/duration.js';
import { KUBERNETES_VERSIONS, type KubernetesVersion } from '../levels.js';
import { parseDecimal, parseFloat32, parseInteger } from './number-text.js';
import { inFile, refuse, string, type ValueType } from './value-type.js';

const INT32 = { lowest: -(2 ** 31), highest: 2 ** 31 - 1 };

/** Any text; `T` names the words that validation lets through. */
export function textOf<T extends string = string>(name = 'string'): ValueType<T> {
  return {
    name,
    zero: '' as T,
    fromFile: (value) => string(value) as T,
    fromFlag: (value) => value as T,
  };
}

export const text = textOf();

/** A text of which only these words are taken, also by the parser. */
function oneOf<T extends string>(first: T, ...others: readonly T[]): ValueType<T> {
  const words = [first, ...others];
  const parse = (value: unknown): T => {
    const word = words.find((candidate) => candidate === value);
    return word ?? refuse(`one of ${words.join(', ')}`, value);
  };
  return {
    name: words.join('|'),
    zero: first,
    fromFile: parse,
    fromFlag: parse,
  };
}

export const bool: ValueType<boolean> = {
  name: 'bool',
  zero: false,
  bare: true,
  fromFile: (value) => (typeof value === 'boolean' ? value : refuse('true or false', value)),
  fromFlag: parseBool,
};

/** A boolean, or undefined when not configured. */
export const optionalBool: ValueType<boolean | undefined> = {
  ...bool,
  zero: undefined,
  format: (value) => (value === undefined ? '' : String(value)),
};

/** A boolean that a file leaves out when it is false. */
export const boolOrNothing = unless(false, bool);

export const int32 = integer('int32', INT32.lowest, INT32.highest, parseInteger);

/** The flag `-v` goes to 2^31-1; the file takes all of uint32 and leaves the limit to validation. */
export const verbosityLevel: ValueType<number> = {
  ...integer('level', 0, INT32.highest, parseDecimal),
  fromFile: uint32,
};

export const float: ValueType<number> = {
  name: 'float32',
  zero: 0,
  fromFile: (value) => (typeof value === 'number' ? value : refuse('a number', value)),
  fromFlag(value) {
    const number = parseFloat32(value);
    return Number.isNaN(number) ? refuse('a number', value) : number;
  },
};

/** Milliseconds. */
export const duration: ValueType<number> = {
  name: 'duration',
  zero: 0,
  fromFile: (value) => parseDuration(string(value)) ?? refuse('a duration such as 30s', value),
  fromFlag: (value) => parseDuration(value) ?? refuse('a duration such as 30s', value),
  format: formatDuration,
  toFile: formatDuration,
};

/** Milliseconds, or undefined when not configured; a zero in the file means not configured. */
export function optionalDuration(writtenWhenUnset: string): ValueType<number | undefined> {
  return {
    ...duration,
    zero: undefined,
    fromFile: (value) => duration.fromFile(value) || undefined,
    format: (value) => (value === undefined ? '' : formatDuration(value)),
    toFile: (value) => (value === undefined ? writtenWhenUnset : formatDuration(value)),
  };
}

/** A duration that the file may also give as an integer of nanoseconds. */
export const flushDuration: ValueType<number> = {
  ...duration,
  fromFile: (value) => (Number.isInteger(value) ? Number(value) / 1e6 : duration.fromFile(value)),
};

/** A Kubernetes quantity of bytes, kept as it is written. */
export const quantity: ValueType<string> = {
  name: 'quantity',
  zero: '0',
  fromFile: (value) => parseQuantity(typeof value === 'number' ? String(value) : string(value)),
  fromFlag: parseQuantity,
};

/** `--version`: `true`, `false`, `raw`, or a version to report instead of the own one. */
export const versionRequest: ValueType<string> = {
  ...text,
  name: 'version[=true]',
  zero: 'false',
  bare: true,
  fromFlag: (value) => (/^(raw|v\d+\.\d+\.\d+.*)$/.test(value) ? value : String(parseBool(value))),
};

const release = oneOf(...KUBERNETES_VERSIONS);

/** A minor release of Kubernetes. YAML reads 1.37 without quotes as a number. */
export const kubernetesVersion: ValueType<KubernetesVersion> = {
  ...release,
  fromFile: (value) => release.fromFile(typeof value === 'number' ? String(value) : value),
};

/** Values that a file leaves out when they are the usual one. */
export function unless<T>(usual: T, type: ValueType<T>): ValueType<T> {
  return { ...type, toFile: (value) => (value === usual ? undefined : inFile(type, value)) };
}

function integer(
  name: string,
  lowest: number,
  highest: number,
  parse: (text: string) => number,
): ValueType<number> {
  const expected = `an integer from ${lowest} to ${highest}`;
  const check = (value: number, given: unknown): number =>
    Number.isInteger(value) && value >= lowest && value <= highest ? value : refuse(expected, given);
  return {
    name,
    zero: 0,
    fromFile: (value) => check(typeof value === 'number' ? value : NaN, value),
    fromFlag: (value) => check(parse(value), value),
  };
}

export function uint32(value: unknown): number {
  const valid = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32;
  return valid ? value : refuse(`an integer from 0 to ${2 ** 32 - 1}`, value);
}

export function parseBool(value: string): boolean {
  if (/^(1|t|T|true|TRUE|True)$/.test(value)) return true;
  return /^(0|f|F|false|FALSE|False)$/.test(value) ? false : refuse('true or false', value);
}

function parseQuantity(value: string): string {
  const syntax = /^[+-]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;
  return syntax.test(value) ? value : refuse('a quantity such as 64Ki', value);
}
