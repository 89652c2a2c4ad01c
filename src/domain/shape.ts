/** Shapes: checks of values that come from outside. */

import { NamedError } from './model/named-error.js';
import { timeText } from './model/text.js';
import type { Protocol } from './model/service-port-name.js';
import type { IpFamily } from './net/ip-family.js';

/**
 * Checks a value that came from outside, and answers it: unchanged, but for times, which may be written in two ways. What a shape
 * does not name is not looked at.
 * @param at where the value stands, such as `families[0].sync`; empty for the whole
 * @throws ShapeError
 */
export interface Shape<Type> {
  (value: unknown, at: string): Type;
  /** How it is made, from which its JSON Schema follows (scripts/docs/json-schemas.ts). */
  readonly form: Form;
}

/** How a shape is made. */
export type Form =
  | { readonly kind: 'string' | 'number' | 'boolean' | 'time' | 'anything' }
  | { readonly kind: 'one-of'; readonly values: readonly (string | boolean)[] }
  | { readonly kind: 'optional' | 'list' | 'list-or-one'; readonly shape: Shape<unknown> }
  | { readonly kind: 'fields'; readonly shapes: Shapes }
  | { readonly kind: 'any-of' | 'all-of'; readonly shapes: readonly Shape<unknown>[] }
  | {
      readonly kind: 'having';
      readonly name: string;
      readonly shape: Shape<unknown>;
      readonly other: Shape<unknown>;
    };

function shapeOf<Type>(form: Form, check: (value: unknown, at: string) => Type): Shape<Type> {
  return Object.assign(check, { form });
}

/** A value from outside has another shape than expected. */
class ShapeError extends NamedError {
  constructor(at: string, expected: string, value: unknown) {
    super(`${at === '' ? 'it' : at} is ${kindOf(value)}, where ${expected} belongs`);
  }
}

export const text = primitive<string>('string', 'a text');

export const number = primitive<number>('number', 'a number');

export const flag = primitive<boolean>('boolean', 'true or false');

function primitive<Type>(type: 'string' | 'number' | 'boolean', expected: string): Shape<Type> {
  return shapeOf({ kind: type }, (value, at) => {
    if (typeof value === type) return value as Type;
    throw new ShapeError(at, expected, value);
  });
}

/** RFC 3339, section 5.6. */
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** A time, answered as `timeText` writes it. Former versions wrote milliseconds since the epoch. */
export const time: Shape<string> = shapeOf({ kind: 'time' }, (value, at) => {
  const sent = typeof value === 'number' ? value : text(value, at);
  const milliseconds = new Date(sent).getTime();
  const written = Number.isNaN(milliseconds) ? '' : timeText(milliseconds);
  if ([written, typeof sent === 'number' ? written : sent].every((one) => RFC_3339.test(one))) return written;
  throw new ShapeError(at, 'a time', value);
});

/** Anything, of which nothing is read. */
export const anything: Shape<unknown> = shapeOf({ kind: 'anything' }, (value) => value);

/** A text that is only shown: another version may have other words than those of the type. */
export function word<Word extends string>(): Shape<Word> {
  return text as Shape<Word>;
}

/** One of these values. */
export function oneOf<const Value extends string | boolean>(...values: readonly Value[]): Shape<Value> {
  return shapeOf({ kind: 'one-of', values }, (value, at) => {
    const found = values.find((one) => one === value);
    if (found !== undefined) return found;
    throw new ShapeError(at, `one of ${values.join(', ')}`, value);
  });
}

/** It may be missing. */
export function optional<Type>(shape: Shape<Type>): Shape<Type | undefined> {
  return shapeOf({ kind: 'optional', shape }, (value, at) =>
    value === undefined ? undefined : shape(value, at),
  );
}

export function list<Member>(member: Shape<Member>): Shape<readonly Member[]> {
  return shapeOf({ kind: 'list', shape: member }, (value, at) => {
    if (!Array.isArray(value)) throw new ShapeError(at, 'a list', value);
    let read: Member[] = value;
    value.forEach((one, index) => {
      const made = member(one, `${at}[${index}]`);
      if (made === one) return;
      if (read === value) read = [...read];
      read[index] = made;
    });
    return read;
  });
}

/** A list, or one member instead of a list of one. */
export function listOrOne<Member>(member: Shape<Member>): Shape<readonly Member[]> {
  const members = list(member);
  return shapeOf({ kind: 'list-or-one', shape: member }, (value, at) =>
    members(Array.isArray(value) ? value : [value], at),
  );
}

type Shapes = Readonly<Record<string, Shape<unknown>>>;

type MayBeMissing<Fields extends Shapes> = {
  [Name in keyof Fields]: undefined extends ReturnType<Fields[Name]> ? Name : never;
}[keyof Fields];

type Parts<Fields extends Shapes> = {
  readonly [Name in keyof Fields as Exclude<Name, MayBeMissing<Fields>>]: ReturnType<Fields[Name]>;
} & {
  readonly [Name in keyof Fields as Extract<Name, MayBeMissing<Fields>>]?: ReturnType<Fields[Name]>;
};

/** An object with these fields; optional ones may be missing. */
export type Checked<Fields extends Shapes> = {
  readonly [Name in keyof Parts<Fields>]: Parts<Fields>[Name];
};

/** An object with these fields. Its type follows from them: `ReturnType<typeof shape>`. */
export function fields<Fields extends Shapes>(shapes: Fields): Shape<Checked<Fields>> {
  const named = Object.entries(shapes);
  return shapeOf({ kind: 'fields', shapes }, (value, at) => {
    const object = objectOf(value, at);
    let read = object;
    for (const [name, shape] of named) {
      const made = shape(object[name], at === '' ? name : `${at}.${name}`);
      if (made !== object[name]) read = { ...read, [name]: made };
    }
    return read as Checked<Fields>;
  });
}

/** An object with a shape for every field of a type that is made elsewhere. */
export const fieldsOf = fields as <Type extends object>(shapes: {
  readonly [Name in keyof Type]-?: Shape<Type[Name]>;
}) => Shape<Type>;

/** Objects of several shapes, distinguished by one field. */
export function variants<Name extends string, Shapes extends Readonly<Record<string, Shape<unknown>>>>(
  name: Name,
  shapes: Shapes,
): Shape<ReturnType<Shapes[keyof Shapes]>> {
  const kind = oneOf(...Object.keys(shapes));
  const form = { kind: 'any-of', shapes: [...new Set(Object.values(shapes))] } as const;
  return shapeOf(form, (value, at) => {
    const chosen = kind(objectOf(value, at)[name], at === '' ? name : `${at}.${name}`);
    return shapes[chosen]!(value, at) as ReturnType<Shapes[keyof Shapes]>;
  });
}

/** The first shape for what has this field, the other one for what has not. */
export function having<One, Other>(name: string, one: Shape<One>, other: Shape<Other>): Shape<One | Other> {
  return shapeOf({ kind: 'having', name, shape: one, other }, (value, at) =>
    (Object.hasOwn(objectOf(value, at), name) ? one : other)(value, at),
  );
}

/** An object that has the fields of both. */
export function both<One, Other>(one: Shape<One>, other: Shape<Other>): Shape<One & Other> {
  return shapeOf(
    { kind: 'all-of', shapes: [one, other] },
    (value, at) => other(one(value, at), at) as One & Other,
  );
}

function objectOf(value: unknown, at: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  throw new ShapeError(at, 'an object', value);
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : JSON.stringify(value).slice(0, 40);
}

/** Shapes of what several answers have in common. */
export const family = word<IpFamily>();

export const protocol = word<Protocol>();
