import { AttributeReader } from '../../../netlink/attribute-reader.js';
import type { NetlinkMessage } from '../../../netlink/message-reader.js';

/** How the value of an attribute is read. */
export type Form<Value = unknown> = (attribute: AttributeReader) => Value;

/** Attributes by their labels, in the order of their numbers. */
export type Fields = Readonly<Record<string, readonly [number: number, form: Form]>>;

/** What was read. Attributes that were not sent are missing. */
export type Values<F extends Fields> = { readonly [Label in keyof F]?: ReturnType<F[Label][1]> };

export const number: Form<number> = (attribute) => attribute.number();
/** Bits, of which older kernels do not send the attribute if none is set. */
export const flags: Form<number> = (attribute) => attribute.number();
export const text: Form<string> = (attribute) => attribute.text();
/** A copy, as the bytes of a message are overwritten by the next one. */
export const bytes: Form<Buffer> = (attribute) => Buffer.from(attribute.value());

/** Attributes in an attribute. */
export function nested<F extends Fields>(layout: AttributeLayout<F>): Form<Values<F>> {
  return (attribute) => layout.read(attribute.nested());
}

/** A list of attributes that all have the same form. */
export function listOf<Value>(form: Form<Value>): Form<readonly Value[]> {
  return (attribute) => {
    const list = attribute.nested();
    const values: Value[] = [];
    while (list.next()) values.push(form(list));
    return values;
  };
}

/** The attributes of one kind of object: which number has which label and form. Others are passed over. */
export class AttributeLayout<const F extends Fields> {
  private readonly byNumber: (readonly [label: string, form: Form])[] = [];

  constructor(readonly fields: F) {
    for (const [label, [type, form]] of Object.entries(fields)) this.byNumber[type] = [label, form];
  }

  read(attributes: AttributeReader): Values<F> {
    const values: Record<string, unknown> = {};
    while (attributes.next()) {
      const field = this.byNumber[attributes.type];
      if (field) values[field[0]] = field[1](attributes);
    }
    return values as Values<F>;
  }
}

/** The attributes of a message of nf_tables, after its own header of four bytes. */
export function attributesOf({ bytes: all, start, end }: NetlinkMessage): AttributeReader {
  return new AttributeReader(all, start + 4, end);
}
