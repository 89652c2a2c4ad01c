import { type RawObject, quote } from '../decode/fields.js';
import { nearestName } from './nearest-name.js';
import type { TextCheck } from './text-checks.js';

/** A rule that an object breaks. */
export interface FieldProblem {
  /** Such as `spec.ports[0].port`; "" for the object itself. */
  readonly field: string;
  /** The problem, for people. */
  readonly what: string;
}

export type Report = (field: string, what: string) => void;

/** Checks a value. Reports every rule that it breaks. Never called for a missing one: undefined and null are missing. */
export type Schema = (value: unknown, field: string, report: Report) => void;

/** A rule about several fields of one object. */
export type Rule<O = RawObject> = (object: O, field: string, report: Report) => void;

const INT32 = 2 ** 31;

/** A value that is not checked, because the proxy does not read it. */
export const anything: Schema = () => undefined;

/** A text for which to be empty is to be missing. */
export function text(check?: TextCheck): Schema {
  return givenText((value) => (value === '' ? undefined : check?.(value)));
}

/** A text that may be missing, but not empty, unless the check allows it. */
export function givenText(check: TextCheck): Schema {
  return (value, field, report) => {
    const wrong = typeof value === 'string' ? check(value) : 'is not a text';
    if (wrong !== undefined) report(field, `${quote(value)} ${wrong}`);
  };
}

export const flag: Schema = (value, field, report) => {
  if (typeof value !== 'boolean') report(field, `${quote(value)} is neither true nor false`);
};

/** A whole number; the limits are those of 32 bits unless they are given. */
export function integer(least = -INT32, most = INT32 - 1): Schema {
  return (value, field, report) => {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most)
      report(field, `${quote(value)} is not a whole number from ${least} to ${most}`);
  };
}

/** Texts; a missing member is an empty one. */
export function texts(check?: TextCheck): Schema {
  return list(check ? givenText(check) : text(), '');
}

/** Objects; a missing member is an empty one. */
export function objects(fields: Readonly<Record<string, Schema>>, ...rules: readonly Rule[]): Schema {
  return list(object(fields, ...rules), {});
}

/** Texts by key. */
export function map(checkKey: TextCheck, checkValue?: TextCheck): Schema {
  return (value, field, report) => {
    if (!isObject(value)) return report(field, `${quote(value)} is not an object`);
    for (const [key, member] of Object.entries(value)) {
      const wrongKey = checkKey(key);
      if (wrongKey !== undefined) report(field, `has the key ${quote(key)}, which ${wrongKey}`);
      if (member === null || member === undefined) continue;
      const wrong = typeof member === 'string' ? checkValue?.(member) : 'is not a text; put it in quotes';
      if (wrong !== undefined) report(within(field, key), `${quote(member)} ${wrong}`);
    }
  };
}

/** An object with these fields and no others, and the rules about several of them. */
export function object(fields: Readonly<Record<string, Schema>>, ...rules: readonly Rule[]): Schema {
  const names = Object.keys(fields);
  return (value, field, report) => {
    if (!isObject(value)) return report(field, `${quote(value)} is not an object`);
    for (const name of Object.keys(value)) {
      if (!Object.hasOwn(fields, name)) {
        const meant = nearestName(name, names);
        const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
        report(within(field, name), `is not a field that Kubernetes knows${hint}`);
        continue;
      }
      const member = value[name];
      // Known names are plain.
      if (member !== null && member !== undefined)
        fields[name]!(member, field === '' ? name : `${field}.${name}`, report);
    }
    for (const rule of rules) rule(value, field, report);
  };
}

/** A field that must not be missing or empty. */
export function required(name: string, what = 'is missing'): Rule {
  return (owner, field, report) => {
    const value = owner[name];
    if (isMissing(value) || (Array.isArray(value) && value.length === 0)) report(within(field, name), what);
  };
}

/** A field that may be given only under a condition. */
export function only<O extends RawObject>(
  name: keyof O & string,
  condition: (owner: O) => boolean,
  what: string,
): Rule<O> {
  return (owner, field, report) => {
    const value: unknown = owner[name];
    const given = !isMissing(value) && value !== 0 && !(Array.isArray(value) && value.length === 0);
    if (given && !condition(owner)) report(within(field, name), what);
  };
}

/** No two members of the list agree in what the key function returns. */
export function unique(
  name: string,
  what: string,
  keyOf: (member: RawObject) => string | undefined,
  at = '',
): Rule {
  return (owner, field, report) => {
    const members = membersOf(owner[name]);
    if (members.length < 2) return;
    const first = new Map<string, number>();
    for (const [index, member] of members.entries()) {
      const key = isObject(member) ? keyOf(member) : undefined;
      if (key === undefined) continue;
      const earlier = first.get(key);
      if (earlier === undefined) {
        first.set(key, index);
        continue;
      }
      const path = within(field, name);
      report(`${path}[${index}]${at}`, `repeats the ${what} of ${path}[${earlier}]`);
    }
  };
}

/** At most one member of the list is of each family. */
export function oneOfEachFamily(name: string, familyOf: (member: unknown) => unknown): Rule {
  return (owner, field, report) => {
    const members = membersOf(owner[name]);
    const families = members.map(familyOf);
    const path = within(field, name);
    for (const [index, family] of families.entries()) {
      const first = families.indexOf(family);
      if (family !== undefined && first < index)
        report(`${path}[${index}]`, `${quote(members[index])} is of the same family as ${path}[${first}]`);
    }
  };
}

/** The length of a list. */
export function atMost(name: string, most: number): Rule {
  return (owner, field, report) => {
    const { length } = membersOf(owner[name]);
    if (length > most) report(within(field, name), `has ${length} members; at most ${most} are allowed`);
  };
}

export function membersOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : NO_MEMBERS;
}

export function isObject(value: unknown): value is RawObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** The path of a field of the object with that path. */
export function within(field: string, name: string): string {
  if (!PLAIN.test(name)) return `${field}[${quote(name).slice(1, -1)}]`;
  return field === '' ? name : `${field}.${name}`;
}

const PLAIN = /^\w+$/;
const NO_MEMBERS: readonly never[] = [];

function list(member: Schema, empty: unknown): Schema {
  return (value, field, report) => {
    if (!Array.isArray(value)) return report(field, `${quote(value)} is not a list`);
    for (const [index, each] of value.entries()) member(each ?? empty, `${field}[${index}]`, report);
  };
}
