import { NamedError } from '../../../domain/model/named-error.js';

/** How values of one kind are written in the file and on the command line (docs/spec/configuration.md §2, §3, §6). */
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
  /** As the command line shows it: in "(default …)", in the log at the start and on /flagz. Missing: as `String` does. */
  format?(value: T): string;
  /** The value as a file holds it; undefined when it is left out. The reverse of `fromFile`. Missing: the value itself. */
  toFile?(value: T): unknown;
}

/** The value does not fit its type; the message says what was expected. The caller adds the field or flag. */
export class ValueError extends NamedError {}

export function shown<T>(type: ValueType<T>, value: T): string {
  return type.format ? type.format(value) : String(value);
}

export function inFile<T>(type: ValueType<T>, value: T): unknown {
  return type.toFile ? type.toFile(value) : value;
}

export function string(value: unknown): string {
  return typeof value === 'string' ? value : refuse('a string', value);
}

export function refuse(expected: string, found: unknown): never {
  throw new ValueError(`expected ${expected}, found ${JSON.stringify(found)}`);
}
