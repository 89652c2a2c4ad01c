import { AttributeReader, type NetlinkMessage } from '../../netlink/message-reader.js';
import type { MessageWriter } from '../../netlink/message-writer.js';
import { LIST_ELEMENT } from './nf-tables.js';

/** How the value of an attribute is read, and how it is written. */
export interface Form<Value = unknown> {
  read(attribute: AttributeReader): Value;
  write(writer: MessageWriter, type: number, value: Value): void;
}

/** Attributes by their labels. */
export type Fields = Readonly<Record<string, readonly [type: number, form: Form]>>;

type ValueOf<F extends Form> = ReturnType<F['read']>;

/** Attributes that are not sent are missing. */
export type Values<F extends Fields> = { readonly [Label in keyof F]?: ValueOf<F[Label][1]> | undefined };

const readNumber = (attribute: AttributeReader): number => attribute.number();

/** Of four bytes where it is written; where it is read, of any length. */
export const number: Form<number> = {
  read: readNumber,
  write: (writer, type, value) => writer.putU32(type, value),
};
export const byte: Form<number> = {
  read: readNumber,
  write: (writer, type, value) => writer.putU8(type, value),
};

/** With a sign. */
export const signed: Form<number> = { ...number, read: (attribute) => attribute.number() | 0 };

/** Eight bytes. */
export const long: Form<number> = {
  read: readNumber,
  write: (writer, type, value) => writer.putU64(type, value),
};

/** The lowest bit. */
export const flag: Form<boolean> = {
  read: (attribute) => (attribute.number() & 1) !== 0,
  write: (writer, type, value) => writer.putU32(type, value ? 1 : 0),
};

/** One of these words, as its number; undefined for another number. */
export function word<Word extends string>(numbers: Readonly<Record<Word, number>>): Form<Word | undefined> {
  const words = new Map(Object.entries(numbers).map(([name, its]) => [its, name as Word]));
  return {
    read: (attribute) => words.get(attribute.number()),
    write: (writer, type, name) => writer.putU32(type, numbers[name!]),
  };
}

export const text: Form<string> = {
  read: (attribute) => attribute.text(),
  write: (writer, type, value) => writer.putText(type, value),
};
export const bytes: Form<Uint8Array> = {
  // A copy, as the bytes of a message are overwritten by the next one.
  read: (attribute) => new Uint8Array(attribute.value()),
  write: (writer, type, value) => writer.putBytes(type, value),
};

/** Attributes in an attribute. */
export function nested<F extends Fields>(layout: AttributeLayout<F>): Form<Values<F>> {
  return {
    read: (attribute) => layout.read(attribute.nested()),
    write(writer, type, values) {
      const nest = writer.beginNest(type);
      layout.write(writer, values);
      writer.endNest(nest);
    },
  };
}

/** A list of attributes that all have the same form. */
export function listOf<Value>(form: Form<Value>): Form<readonly Value[]> {
  return {
    read(attribute) {
      const list = attribute.nested();
      const values: Value[] = [];
      while (list.next()) values.push(form.read(list));
      return values;
    },
    write(writer, type, values) {
      const list = writer.beginNest(type);
      for (const value of values) form.write(writer, LIST_ELEMENT, value);
      writer.endNest(list);
    },
  };
}

/** The attributes of one kind of object, in the order in which they are sent: which number has which label and form. */
export class AttributeLayout<const F extends Fields> {
  private readonly byType: (readonly [label: string, form: Form])[] = [];

  constructor(readonly fields: F) {
    for (const [label, [type, form]] of Object.entries(fields)) this.byType[type] = [label, form];
  }

  /** Attributes that the layout does not have are passed over. */
  read(attributes: AttributeReader): Values<F> {
    const values: Record<string, unknown> = {};
    while (attributes.next()) {
      const field = this.byType[attributes.type];
      if (field) values[field[0]] = field[1].read(attributes);
    }
    return values as Values<F>;
  }

  /** Writes those that are not missing. */
  write(writer: MessageWriter, values: Values<F>): void {
    const its = values as Readonly<Record<string, unknown>>;
    for (const label in this.fields) {
      const [type, form] = this.fields[label]!;
      const value = its[label];
      if (value !== undefined) form.write(writer, type, value);
    }
  }
}

/** The attributes of a message of nf_tables, after its own header of four bytes. */
export function attributesOf({ bytes: all, start, end }: NetlinkMessage): AttributeReader {
  return new AttributeReader(all, start + 4, end);
}
