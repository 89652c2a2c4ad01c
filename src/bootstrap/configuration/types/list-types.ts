import { formatCsv, parseCsv } from './csv.js';
import { bool, parseBool, uint32 } from './scalar-types.js';
import { refuse, string, ValueError, type ValueType } from './value-type.js';

/** A list; on the command line comma-separated values, quoted where they need it, and repeatable. */
export const stringSlice: ValueType<readonly string[]> = {
  name: 'strings',
  zero: [],
  fromFile: strings,
  fromFlag: (value, earlier = []) => [
    ...earlier,
    ...(value === '' ? [] : (parseCsv(value) ?? refuse('comma-separated values', value))),
  ],
  format: (values) => `[${formatCsv(values)}]`,
  // Kubernetes knows no difference between an empty list and none.
  toFile: (values) => (values.length > 0 ? values : null),
};

/** A list of paths, with one entry for each use of the flag. An empty one would mean the current folder. */
export const pathArray: ValueType<readonly string[]> = {
  ...stringSlice,
  name: 'path',
  fromFlag: (value, earlier = []) => [...earlier, value === '' ? refuse('a path', value) : value],
};

/**
 * One text that holds a list, split at commas without trimming. In the file nothing means no list; on the command line it is
 * a list of one empty text, as with kube-proxy, and not likely what was meant.
 */
export const commaSeparated: ValueType<readonly string[]> = {
  name: 'string',
  zero: [],
  fromFile: (value) => (value === '' ? [] : string(value).split(',')),
  fromFlag: (value) => value.split(','),
  format: (values) => values.join(','),
  toFile: (values) => values.join(','),
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

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(string) : refuse('a list of strings', value);
}
