import { AttributeReader, type NetlinkMessage } from '../../netlink/message-reader.js';
import type { MessageWriter } from '../../netlink/message-writer.js';
import { LIST_ELEMENT } from './nf-tables.js';

/** How the value of an attribute is read, and how it is written. */
export interface Form<Value = unknown> {
  read(attribute: AttributeReader): Value;
  write(writer: MessageWriter, type: number, value: Value): void;
}

/** Attributes by their labels, in the order of their numbers. */
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

/** Eight bytes. */
export const long: Form<number> = {
  read: readNumber,
  write: (writer, type, value) => writer.putU64(type, value),
};

/** Bits, of which older kernels do not send the attribute if none is set. */
export const flags: Form<number> = { ...number };
export const text: Form<string> = {
  read: (attribute) => attribute.text(),
  write: (writer, type, value) => writer.putText(type, value),
};
export const bytes: Form<Buffer> = {
  // A copy, as the bytes of a message are overwritten by the next one.
  read: (attribute) => Buffer.from(attribute.value()),
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

/** The attributes of one kind of object: which number has which label and form. */
export class AttributeLayout<const F extends Fields> {
  /** Labels with their forms, in the order of the numbers. */
  readonly forms: readonly (readonly [label: string, form: Form])[];
  private readonly byType: (readonly [label: string, form: Form])[] = [];

  constructor(readonly fields: F) {
    for (const [label, [type, form]] of Object.entries<readonly [number, unknown]>(fields))
      this.byType[type] = [label, form as Form];
    this.forms = this.byType.filter(Boolean);
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

  /** Writes the values in their own order. */
  write(writer: MessageWriter, values: Values<F>): void {
    for (const [label, value] of Object.entries(values)) {
      const [type, form] = this.fields[label] as unknown as readonly [number, Form];
      if (value !== undefined) form.write(writer, type, value);
    }
  }
}

/** The attributes of a message of nf_tables, after its own header of four bytes. */
export function attributesOf({ bytes: all, start, end }: NetlinkMessage): AttributeReader {
  return new AttributeReader(all, start + 4, end);
}
