/** Reads fields of objects from outside, and collects their problems. */

import { NamedError } from '../model/named-error.js';
import type { Protocol } from '../model/service-port-name.js';
import { subset } from '../model/subset.js';
import { dnsLabel, dnsSubdomain, time, type TextCheck } from '../validation/text-checks.js';

export type RawObject = Readonly<Record<string, unknown>>;

/**
 * Result of reading an object from outside. Without `value` the object is unusable, and `problems` say why. `ignored`: it is
 * valid, but not for this proxy; this is why. Otherwise `problems` name malformed parts that are ignored, and `notes` name what is unusual
 * although the API server allows it. Both begin with the path of the field, which contains no space.
 */
export interface Reading<T, Ignored extends string = string> {
  readonly value?: T;
  readonly ignored?: Ignored;
  readonly problems: readonly string[];
  readonly notes?: readonly string[];
}

/** An object from outside breaks a rule; the message names the field and the rule. */
export class InvalidObject extends NamedError {}

/** So many problems of an object are named; the rest is counted. */
const NAMED = 5;

/** The problems of an object, of which it may have tens of thousands. */
export class ProblemList {
  private readonly named: string[] = [];
  private count = 0;

  /** @param text made only for a problem that is named */
  add(text: () => string): void {
    if (this.count++ < NAMED) this.named.push(text());
  }

  /** In order. The last one is the number of those that are not named, if there are any. */
  get texts(): readonly string[] {
    const more = this.count - this.named.length;
    return more === 0 ? this.named : [...this.named, `… and ${more} more problems`];
  }
}

/** A value from outside in a form that is safe to log: quoted, shortened, control characters escaped. Never throws. */
export function quote(value: unknown): string {
  const text = jsonOf(typeof value === 'string' ? value.slice(0, 80) : value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    // A big integer, or a circular value, which aliases in YAML can create.
    return typeof value === 'bigint' ? String(value) : 'a value without a JSON form';
  }
}

const NOTHING: RawObject = Object.freeze({});

/** An object; a missing one counts as empty. */
export function objectField(value: unknown, path: string): RawObject {
  if (value === undefined || value === null) return NOTHING;
  if (typeof value !== 'object' || Array.isArray(value)) throw new InvalidObject(`${path} must be an object`);
  return value as RawObject;
}

const NO_MEMBERS: readonly never[] = [];

/** Reads an object of this kind, given with its metadata. InvalidObject, when `read` throws it, makes the object unusable. */
export function readObject<T, Ignored extends string = string>(
  raw: unknown,
  kind: string,
  read: (object: RawObject, metadata: RawObject) => Reading<T, Ignored>,
): Reading<T, Ignored> {
  try {
    const object = objectField(raw, kind);
    return read(object, objectField(object.metadata, 'metadata'));
  } catch (error) {
    if (error instanceof InvalidObject) return { problems: [error.message] };
    throw error;
  }
}

/** A list; a missing one counts as empty, which is always the same list. */
export function listField(value: unknown, path: string): readonly unknown[] {
  if (value === undefined || value === null) return NO_MEMBERS;
  if (!Array.isArray(value)) throw new InvalidObject(`${path} must be a list`);
  return value;
}

/**
 * Reads the members of a list; of none, if it is missing. Members read as undefined are skipped. Errors are reported with their
 * place, `path[index].…`. An empty list is always the same one.
 */
export function readEach<T>(
  list: unknown,
  path: string,
  read: (member: unknown, index: number) => T | undefined,
): readonly T[] {
  const members = listField(list, path);
  if (members.length === 0) return NO_MEMBERS;
  const values = members.map((member, index) => {
    try {
      return read(member, index);
    } catch (error) {
      throw error instanceof InvalidObject ? new InvalidObject(`${path}[${index}]${error.message}`) : error;
    }
  });
  return subset(values, (value) => value !== undefined);
}

/** A string; "" if it is missing. */
export function textField(value: unknown, path: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw new InvalidObject(`${path} must be a string, not ${quote(value)}`);
  return value;
}

/** A DNS label (RFC 1123), as namespaces, Services and port names are. */
export function labelField(value: unknown, path: string): string {
  return checkedField(value, path, dnsLabel);
}

/** A DNS subdomain (RFC 1123), as most objects are named. */
export function subdomainField(value: unknown, path: string): string {
  return checkedField(value, path, dnsSubdomain);
}

function checkedField(value: unknown, path: string, check: TextCheck): string {
  const wrong = check(typeof value === 'string' ? value : '');
  if (wrong !== undefined) throw new InvalidObject(`${path} ${quote(value)} ${wrong}`);
  return value as string;
}

/** A boolean; undefined if it is missing. */
export function booleanField(value: unknown, path: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean')
    throw new InvalidObject(`${path} ${quote(value)} is neither true nor false`);
  return value;
}

export function integerField(value: unknown, path: string, least: number, most: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    throw new InvalidObject(`${path} ${quote(value)} is not a whole number from ${least} to ${most}`);
  }
  return value;
}

/** A protocol name; TCP if it is missing. */
export function protocolField(value: unknown, path: string): Protocol {
  if (value === undefined || value === null || value === '') return 'TCP';
  if (value === 'TCP' || value === 'UDP' || value === 'SCTP') return value;
  throw new InvalidObject(`${path} ${quote(value)} is not TCP, UDP or SCTP`);
}

/** Whether the object's metadata has the label, with any value. */
export function hasLabel(metadata: RawObject, label: string): boolean {
  const labels = metadata.labels;
  return typeof labels === 'object' && labels !== null && Object.hasOwn(labels, label);
}

/** An RFC 3339 time in milliseconds since the epoch; undefined if it is missing or, with a note, if it is none. */
export function timeField(value: unknown, path: string, notes: ProblemList): number | undefined {
  if (value === undefined || value === null) return undefined;
  const wrong = time(typeof value === 'string' ? value : '');
  if (wrong === undefined) return Date.parse(value as string);
  notes.add(() => `${path} ${quote(value)} ${wrong}; ignored`);
  return undefined;
}
