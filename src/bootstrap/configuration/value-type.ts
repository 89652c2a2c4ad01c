import { parseAddress } from '../../domain/net/address.js';
import { formatDuration, parseDuration } from './duration.js';
import { parsePort, splitHostPort } from './listen-address.js';

/** How values of one kind are written in the file and on the command line (spec/configuration.md §2, §3, §6). */
export interface ValueType<T> {
  /** The word for it in `--help`. */
  readonly name: string;
  /** The value that stands for "not set". */
  readonly zero: T;
  /** A flag of this type may stand without a value, which means `true`. */
  readonly bare?: boolean;
  /** @throws ValueError when the YAML value has the wrong type or syntax */
  fromFile(value: unknown): T;
  /**
   * @param earlier what the flag's earlier uses gave, for types that accumulate
   * @returns undefined when the text leaves the default in place
   * @throws ValueError
   */
  fromFlag(text: string, earlier?: T): T | undefined;
  /** As the command line shows it: in "(default …)", in the log at the start and on /flagz. */
  format(value: T): string;
  /** The value as a file holds it; undefined when it is left out. The reverse of `fromFile`. */
  toFile(value: T): unknown;
}

/** The value does not fit its type; the message says what was expected. The caller adds field or flag. */
export class ValueError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ValueError';
  }
}

const INT32 = { lowest: -(2 ** 31), highest: 2 ** 31 - 1 };

/** Any text; `T` names the words that validation lets through. */
export function textOf<T extends string = string>(name = 'string'): ValueType<T> {
  return {
    name,
    zero: '' as T,
    fromFile: (value) => string(value) as T,
    fromFlag: (value) => value as T,
    format: String,
    toFile: itself,
  };
}

export const text = textOf();

/** A text of which only these words are taken, also by the parser. */
export function oneOf<T extends string>(first: T, ...others: readonly T[]): ValueType<T> {
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
    format: String,
    toFile: itself,
  };
}

export const bool: ValueType<boolean> = {
  name: 'bool',
  zero: false,
  bare: true,
  fromFile: (value) => (typeof value === 'boolean' ? value : refuse('true or false', value)),
  fromFlag: parseBool,
  format: String,
  toFile: itself,
};

/** A boolean that a file leaves out when it is false. */
export const boolOrNothing: ValueType<boolean> = { ...bool, toFile: (value) => value || undefined };

export const int32 = integer('int32', INT32.lowest, INT32.highest);
/** The flag `-v` goes to 2^31-1; the file takes all of uint32 and leaves the limit to validation. */
export const verbosityLevel: ValueType<number> = { ...integer('level', 0, INT32.highest), fromFile: uint32 };

export const float: ValueType<number> = {
  name: 'float32',
  zero: 0,
  fromFile: (value) => (typeof value === 'number' ? value : refuse('a number', value)),
  fromFlag: (value) =>
    value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : refuse('a number', value),
  format: String,
  toFile: itself,
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

/** Milliseconds, or undefined when nobody asked for a value; a zero in the file is nobody asking. */
export function optionalDuration(writtenWhenUnset: string): ValueType<number | undefined> {
  return {
    name: 'duration',
    zero: undefined,
    fromFile: (value) => duration.fromFile(value) || undefined,
    fromFlag: (value) => duration.fromFlag(value),
    format: (value) => (value === undefined ? '' : formatDuration(value)),
    toFile: (value) => (value === undefined ? writtenWhenUnset : formatDuration(value)),
  };
}

/** A duration that the file may also give as an integer of nanoseconds. */
export const flushDuration: ValueType<number> = {
  ...duration,
  fromFile: (value) => (Number.isInteger(value) ? Number(value) / 1e6 : duration.fromFile(value)),
};

/** A list; on the command line comma-separated and repeatable. */
export const stringSlice: ValueType<readonly string[]> = {
  name: 'strings',
  zero: [],
  fromFile: strings,
  fromFlag: (value, earlier = []) => [...earlier, ...(value === '' ? [] : value.split(','))],
  format: (values) => `[${values.join(',')}]`,
  // Kubernetes knows no difference between an empty list and none.
  toFile: (values) => (values.length > 0 ? values : null),
};

/** A list with one entry for each use of the flag. */
export const stringArray: ValueType<readonly string[]> = {
  ...stringSlice,
  name: 'path',
  fromFlag: (value, earlier = []) => [...earlier, value],
};

/** One text that holds a list, split at commas without trimming. */
export const commaSeparated: ValueType<readonly string[]> = {
  name: 'string',
  zero: [],
  fromFile: (value) => stringSlice.fromFlag(string(value)) ?? [],
  fromFlag: (value) => stringSlice.fromFlag(value),
  format: (values) => values.join(','),
  toFile: (values) => values.join(','),
};

/** An IP whose empty flag leaves the default in place. */
export const ip: ValueType<string> = {
  ...text,
  name: 'ip',
  fromFlag(value) {
    if (value === '') return undefined;
    return parseAddress(value) ? value : refuse('an IP address', value);
  },
};

/** `IP` or `IP:port` on the command line, port 0 included; an empty flag leaves the default in place. */
export const ipPort: ValueType<string> = {
  ...text,
  name: 'ipport',
  fromFlag(value) {
    if (value === '') return undefined;
    const parts = splitHostPort(value);
    const valid = parts
      ? parseAddress(parts.host) && parsePort(parts.port, 0) !== undefined
      : parseAddress(value);
    return valid ? value : refuse('an IP address or IP:port', value);
  },
};

/** Feature gates: `Name=true,Other=false`. */
export const gateMap: ValueType<Readonly<Record<string, boolean>>> = {
  name: 'mapStringBool',
  zero: {},
  fromFile(value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return refuse('a map of booleans', value);
    return Object.fromEntries(Object.entries(value).map(([name, on]) => [name, bool.fromFile(on)]));
  },
  fromFlag(value, earlier = {}) {
    const items = value.split(',').filter((item) => item.trim() !== '');
    const pairs = items.map((item) => {
      const [name = '', ...rest] = item.split('=');
      if (rest.length === 0) throw new ValueError('malformed pair, expect string=bool');
      return [name.trim(), parseBool(rest.join('=').trim())] as const;
    });
    return { ...earlier, ...Object.fromEntries(pairs) };
  },
  format: (gates) =>
    Object.entries(gates)
      .map(([name, on]) => `${name}=${on}`)
      .sort()
      .join(','),
  toFile: (gates) => (Object.keys(gates).length > 0 ? gates : undefined),
};

/** A Kubernetes quantity of bytes, kept as it is written. */
export const quantity: ValueType<string> = {
  name: 'quantity',
  zero: '0',
  fromFile: (value) => parseQuantity(typeof value === 'number' ? String(value) : string(value)),
  fromFlag: parseQuantity,
  format: String,
  toFile: itself,
};

/** The verbosity of source files whose name fits a pattern. */
export interface VerbosityPattern {
  readonly filePattern: string;
  readonly verbosity: number;
}

/** `pattern=N,…` on the command line, a list of `{filePattern, verbosity}` in the file. */
export const vmodule: ValueType<readonly VerbosityPattern[]> = {
  name: 'pattern=N,...',
  zero: [],
  fromFile(value) {
    if (!Array.isArray(value)) return refuse('a list of {filePattern, verbosity}', value);
    return value.map((item: unknown) => {
      const { filePattern = '', verbosity = 0 } = (item ?? {}) as Partial<VerbosityPattern>;
      return { filePattern: string(filePattern), verbosity: uint32(verbosity) };
    });
  },
  fromFlag: (value) =>
    value
      .split(',')
      .filter((item) => item !== '')
      .map((item) => {
        const parts = /^([^=]+)=(\d+)$/.exec(item);
        return parts
          ? { filePattern: parts[1]!, verbosity: uint32(Number(parts[2])) }
          : refuse('pattern=N', item);
      }),
  format: (items) => items.map((item) => `${item.filePattern}=${item.verbosity}`).join(','),
  toFile: (items) => (items.length > 0 ? items : undefined),
};

/** `--version`: `true`, `false`, `raw`, or a version to report instead of the own one. */
export const versionRequest: ValueType<string> = {
  ...text,
  name: 'version[=true]',
  zero: 'false',
  bare: true,
  fromFlag: (value) => (/^(raw|v\d+\.\d+\.\d+.*)$/.test(value) ? value : String(parseBool(value))),
};

function integer(name: string, lowest: number, highest: number): ValueType<number> {
  const expected = `an integer from ${lowest} to ${highest}`;
  const check = (value: number, given: unknown): number =>
    Number.isInteger(value) && value >= lowest && value <= highest ? value : refuse(expected, given);
  return {
    name,
    zero: 0,
    fromFile: (value) => check(typeof value === 'number' ? value : NaN, value),
    fromFlag: (value) => check(/^[+-]?\d+$/.test(value) ? Number(value) : NaN, value),
    format: String,
    toFile: itself,
  };
}

function itself<T>(value: T): T {
  return value;
}

function uint32(value: unknown): number {
  const valid = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32;
  return valid ? value : refuse(`an integer from 0 to ${2 ** 32 - 1}`, value);
}

function parseBool(value: string): boolean {
  if (/^(1|t|T|true|TRUE|True)$/.test(value)) return true;
  return /^(0|f|F|false|FALSE|False)$/.test(value) ? false : refuse('true or false', value);
}

function parseQuantity(value: string): string {
  const syntax = /^[+-]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;
  return syntax.test(value) ? value : refuse('a quantity such as 64Ki', value);
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : refuse('a string', value);
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(string) : refuse('a list of strings', value);
}

function refuse(expected: string, found: unknown): never {
  throw new ValueError(`expected ${expected}, found ${JSON.stringify(found)}`);
}
