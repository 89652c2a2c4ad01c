import { formatDuration, parseDuration } from '../../application/words.js';
import { NamedError } from '../../domain/model/named-error.js';
import { parseAddress } from '../../domain/net/address.js';
import { parsePort, splitHostPort } from '../../domain/net/listen-address.js';
import { KUBERNETES_VERSIONS, type KubernetesVersion } from './releases.js';

/**
 * How values of one kind are written in the file and on the command line (docs/internals/spec/configuration.md §2, §3, §6). `Written` is the
 * type that they have in the file.
 */
export interface ValueType<T, Written = unknown> {
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
  toFile(value: T): Written;
}

/** The value does not fit its type; the message names the expected form. The caller adds the field or flag. */
export class ValueError extends NamedError {}

/** How most values are shown and written. */
const PLAIN = { format: String, toFile: <T>(value: T): T => value };

export const text = textOf();

/** Any text; `T` names the words that validation lets through. */
export function textOf<T extends string = string>(): ValueType<T, T> {
  return {
    ...PLAIN,
    name: 'string',
    zero: '' as T,
    fromFile: (value) => string(value) as T,
    fromFlag: (value) => value as T,
  };
}

export const bool: ValueType<boolean, boolean> = {
  ...PLAIN,
  name: 'bool',
  zero: false,
  bare: true,
  fromFile: (value) => (typeof value === 'boolean' ? value : reject('true or false', value)),
  fromFlag: parseBool,
};

/** A boolean, or undefined when not configured. */
export const optionalBool: ValueType<boolean | undefined, boolean | undefined> = {
  ...bool,
  zero: undefined,
  format: (value) => String(value ?? ''),
};

export const int32 = integer('int32', -(2 ** 31), parseInteger);

/** The flag `-v` goes to 2^31-1; the file takes all of uint32 and leaves the limit to validation. */
export const verbosityLevel: ValueType<number, number> = {
  ...integer('level', 0, (text) => (/^[+-]?\d+$/.test(text) ? Number(text) : NaN)),
  fromFile: uint32,
};

export const float: ValueType<number, number> = {
  ...PLAIN,
  name: 'float32',
  zero: 0,
  fromFile: (value) => (typeof value === 'number' ? value : reject('a number', value)),
  fromFlag: parseFloat32,
};

/** Milliseconds. */
export const duration: ValueType<number, string> = {
  name: 'duration',
  zero: 0,
  fromFile: (value) => durationOf(string(value)),
  fromFlag: durationOf,
  format: formatDuration,
  toFile: formatDuration,
};

/** Milliseconds, or undefined when not configured; a zero in the file means not configured. */
export function optionalDuration(writtenWhenUnset: string): ValueType<number | undefined, string> {
  return {
    ...duration,
    zero: undefined,
    fromFile: (value) => duration.fromFile(value) || undefined,
    format: (value) => (value === undefined ? '' : formatDuration(value)),
    toFile: (value) => (value === undefined ? writtenWhenUnset : formatDuration(value)),
  };
}

/** A duration that the file may also give as an integer of nanoseconds. */
export const flushDuration: ValueType<number, string | number> = {
  ...duration,
  fromFile: (value) => (Number.isInteger(value) ? Number(value) / 1e6 : duration.fromFile(value)),
};

/** A Kubernetes quantity of bytes, kept as written. */
export const quantity: ValueType<string, string | number> = {
  ...PLAIN,
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

/** A minor release of Kubernetes. */
export const kubernetesVersion: ValueType<KubernetesVersion, KubernetesVersion> = {
  ...PLAIN,
  name: KUBERNETES_VERSIONS.join('|'),
  zero: KUBERNETES_VERSIONS[0],
  fromFile: parseVersion,
  fromFlag: parseVersion,
};

/** An IP whose empty flag leaves the default in place. */
export const ip: ValueType<string, string> = {
  ...text,
  name: 'ip',
  fromFlag(value) {
    if (value === '') return undefined;
    return parseAddress(value) ? value : reject('an IP address', value);
  },
};

/** `IP` or `IP:port` on the command line, port 0 included; an empty flag leaves the default in place. */
export const ipPort: ValueType<string, string> = {
  ...text,
  name: 'ipport',
  fromFlag(value) {
    if (value === '') return undefined;
    const { host, port } = splitHostPort(value) ?? { host: value, port: '0' };
    const isValid = parseAddress(host) && parsePort(port, 0) !== undefined;
    return isValid ? value : reject('an IP address or IP:port', value);
  },
};

/** A list; on the command line comma-separated values, quoted where they need it, and repeatable. */
export const stringSlice: ValueType<readonly string[], readonly string[] | null> = {
  name: 'strings',
  zero: [],
  fromFile: (value) => (Array.isArray(value) ? value.map(string) : reject('a list of strings', value)),
  fromFlag: (value, earlier = []) => [...earlier, ...(value === '' ? [] : parseCsv(value))],
  format: (values) => `[${formatCsv(values)}]`,
  // Kubernetes does not distinguish an empty list from none.
  toFile: (values) => (values.length > 0 ? values : null),
};

/** A list of paths, with one entry for each use of the flag. An empty one would mean the current folder. */
export const pathArray: ValueType<readonly string[]> = {
  ...stringSlice,
  name: 'path',
  fromFlag: (value, earlier = []) => [...earlier, value === '' ? reject('a path', value) : value],
};

/**
 * One text that holds a list, split at commas without trimming. In the file nothing means no list; on the command line it is
 * a list of one empty text, as with kube-proxy, and not likely what was meant.
 */
export const commaSeparated: ValueType<readonly string[], string> = {
  name: 'string',
  zero: [],
  fromFile: (value) => (value === '' ? [] : string(value).split(',')),
  fromFlag: (value) => value.split(','),
  format: String,
  toFile: String,
};

type GateMap = Readonly<Record<string, boolean>>;

/** Feature gates: `Name=true,Other=false`. */
export const gateMap: ValueType<GateMap, GateMap | undefined> = {
  name: 'mapStringBool',
  zero: {},
  fromFile(value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return reject('a map of booleans', value);
    return Object.fromEntries(Object.entries(value).map(([name, on]) => [name, bool.fromFile(on)]));
  },
  fromFlag(value, earlier = {}) {
    const pairs = partsOf(value).map((item) => {
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

/** The verbosity of source files whose name fits a pattern. */
export interface VerbosityPattern {
  readonly filePattern: string;
  readonly verbosity: number;
}

/** `pattern=N,…` on the command line, a list of `{filePattern, verbosity}` in the file. */
export const vmodule: ValueType<readonly VerbosityPattern[], readonly VerbosityPattern[] | undefined> = {
  name: 'pattern=N,...',
  zero: [],
  fromFile(value) {
    if (!Array.isArray(value)) return reject('a list of {filePattern, verbosity}', value);
    return value.map((item: unknown) => {
      const { filePattern = '', verbosity = 0 } = (item ?? {}) as Partial<VerbosityPattern>;
      return { filePattern: string(filePattern), verbosity: uint32(verbosity) };
    });
  },
  fromFlag: (value) =>
    partsOf(value).map((item) => {
      const [, filePattern, verbosity] = /^([^=]+)=(\d+)$/.exec(item) ?? [];
      if (filePattern === undefined) return reject('pattern=N', item);
      return { filePattern, verbosity: uint32(Number(verbosity)) };
    }),
  format: (items) => items.map((item) => `${item.filePattern}=${item.verbosity}`).join(','),
  toFile: (items) => (items.length > 0 ? items : undefined),
};

/** The fields of one line of comma-separated values, quoted as in RFC 4180. */
function parseCsv(text: string): readonly string[] {
  const fields: string[] = [];
  const next = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;
  for (;;) {
    const found = next.exec(text) ?? reject('comma-separated values', text);
    const [, quoted, plain = '', end] = found;
    fields.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '') return fields;
  }
}

function formatCsv(fields: readonly string[]): string {
  return fields
    .map((field) => (/[",\r\n]|^\s/.test(field) ? `"${field.replaceAll('"', '""')}"` : field))
    .join(',');
}

/** An integer as Go writes it in programs: decimal, `0x1f`, `0o17` or `017`, `0b11`, with `_` between digits; or NaN. */
function parseInteger(text: string): number {
  const parts =
    /^([+-]?)(?:(0[xX](?:_?[\da-fA-F])+)|0[oO]?((?:_?[0-7])+)|(0[bB](?:_?[01])+|0|[1-9](?:_?\d)*))$/.exec(
      text,
    );
  if (!parts) return NaN;
  const [, sign, hex, octal, other] = parts;
  const literal = hex ?? other ?? `0o${octal}`;
  const size = Number(literal.replaceAll('_', ''));
  return sign === '-' && size !== 0 ? -size : size;
}

function integer(name: string, lowest: number, parse: (text: string) => number): ValueType<number, number> {
  const highest = 2 ** 31 - 1;
  const check = (value: number, given: unknown): number =>
    Number.isInteger(value) && value >= lowest && value <= highest
      ? value
      : reject(`an integer from ${lowest} to ${highest}`, given);
  return {
    ...PLAIN,
    name,
    zero: 0,
    fromFile: (value) => check(typeof value === 'number' ? value : NaN, value),
    fromFlag: (value) => check(parse(value), value),
  };
}

function uint32(value: unknown): number {
  const isValid = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32;
  return isValid ? value : reject(`an integer from 0 to ${2 ** 32 - 1}`, value);
}

/** A decimal number that a float32 can hold. */
function parseFloat32(text: string): number {
  const number = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(text) ? Number(text) : NaN;
  return Math.abs(number) <= 3.4028234663852886e38 ? number : reject('a number', text);
}

function parseBool(value: string): boolean {
  if (/^(1|t|T|true|TRUE|True)$/.test(value)) return true;
  return /^(0|f|F|false|FALSE|False)$/.test(value) ? false : reject('true or false', value);
}

/** YAML reads 1.37 without quotes as a number. */
function parseVersion(value: unknown): KubernetesVersion {
  const text = typeof value === 'number' ? String(value) : value;
  const version = KUBERNETES_VERSIONS.find((one) => one === text);
  return version ?? reject(`one of ${KUBERNETES_VERSIONS.join(', ')}`, text);
}

function parseQuantity(value: string): string {
  const syntax = /^[+-]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;
  return syntax.test(value) ? value : reject('a quantity such as 64Ki', value);
}

function durationOf(text: string): number {
  return parseDuration(text) ?? reject('a duration such as 30s', text);
}

/** A part between commas. */
function partsOf(text: string): readonly string[] {
  return text.split(',').filter((part) => part.trim() !== '');
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : reject('a string', value);
}

function reject(expected: string, found: unknown): never {
  throw new ValueError(`expected ${expected}, found ${JSON.stringify(found)}`);
}
