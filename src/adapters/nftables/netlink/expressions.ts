import {
  AttributeLayout,
  byte,
  bytes,
  flags,
  listOf,
  long,
  nested,
  number,
  text,
  type Fields,
  type Form,
  type Values,
} from './attribute-layout.js';
import { DATA, EXPRESSION, VERDICT_CODES } from './nf-tables.js';

export const VERDICT_LAYOUT = new AttributeLayout({
  code: [1, number],
  chain: [2, text],
});

/** A value or a verdict, of an expression or of an element. */
const DATA_LAYOUT = new AttributeLayout({
  value: [DATA.VALUE, bytes],
  verdict: [DATA.VERDICT, nested(VERDICT_LAYOUT)],
});
export const data = nested(DATA_LAYOUT);

export type VerdictRecord = Values<typeof VERDICT_LAYOUT.fields>;
export type DataRecord = Values<typeof DATA_LAYOUT.fields>;

const EXTENSION = { name: [1, text], revision: [2, number], info: [3, bytes] } as const;

/** The attributes of each expression (docs/spec/nft-netlink.md §9) that some rule of ours has or that a trace can follow. */
const EXPRESSIONS = layouts({
  payload: { dreg: [1, number], base: [2, number], offset: [3, number], length: [4, number] },
  meta: { dreg: [1, number], key: [2, number], sreg: [3, number] },
  ct: { dreg: [1, number], key: [2, number], direction: [3, number], sreg: [4, number] },
  fib: { dreg: [1, number], result: [2, number], flags: [3, number] },
  cmp: { sreg: [1, number], op: [2, number], data: [3, data] },
  range: { sreg: [1, number], op: [2, number], from: [3, data], to: [4, data] },
  bitwise: {
    sreg: [1, number],
    dreg: [2, number],
    length: [3, number],
    mask: [4, data],
    xor: [5, data],
    op: [6, flags],
    data: [7, data],
  },
  byteorder: {
    sreg: [1, number],
    dreg: [2, number],
    op: [3, number],
    length: [4, number],
    size: [5, number],
  },
  lookup: { set: [1, text], sreg: [2, number], dreg: [3, number], flags: [5, flags] },
  numgen: { dreg: [1, number], modulus: [2, number], type: [3, number], offset: [4, number] },
  hash: {
    sreg: [1, number],
    dreg: [2, number],
    length: [3, number],
    modulus: [4, number],
    seed: [5, number],
    offset: [6, number],
    type: [7, number],
  },
  immediate: { dreg: [1, number], data: [2, data] },
  nat: {
    type: [1, number],
    family: [2, number],
    'address-min': [3, number],
    'address-max': [4, number],
    'port-min': [5, number],
    'port-max': [6, number],
    flags: [7, flags],
  },
  masq: { flags: [1, flags], 'port-min': [2, number], 'port-max': [3, number] },
  reject: { type: [1, number], code: [2, byte] },
  objref: { type: [1, number], name: [2, text] },
  dynset: {
    set: [1, text],
    op: [3, number],
    key: [4, number],
    data: [5, number],
    timeout: [6, long],
    expression: [7, data],
    flags: [9, flags],
    expressions: [10, data],
  },
  limit: { rate: [1, number], unit: [2, number], burst: [3, number], type: [4, number], flags: [5, flags] },
  match: EXTENSION,
  target: EXTENSION,
});

type Expressions = typeof EXPRESSIONS;
export type ExpressionName = keyof Expressions;
export type ExpressionValues<Name extends ExpressionName> = Values<Expressions[Name]['fields']>;

/** An expression of a rule, sent or listed. */
export interface ExpressionRecord {
  readonly name: string;
  /** Missing if the expression is not one of EXPRESSIONS. */
  readonly values?: Readonly<Record<string, unknown>>;
}

const expression: Form<ExpressionRecord> = {
  read(attribute) {
    const attributes = attribute.nested();
    let name = '';
    let values: ExpressionRecord['values'];
    while (attributes.next()) {
      if (attributes.type === EXPRESSION.NAME) name = attributes.text();
      else if (attributes.type === EXPRESSION.DATA && isKnown(name))
        values = EXPRESSIONS[name].read(attributes.nested());
    }
    return { name, ...(values && { values }) };
  },
  write(writer, type, { name, values = {} }) {
    const nest = writer.beginNest(type);
    writer.putText(EXPRESSION.NAME, name);
    const its = writer.beginNest(EXPRESSION.DATA);
    if (isKnown(name)) EXPRESSIONS[name].write(writer, values);
    writer.endNest(its);
    writer.endNest(nest);
  },
};
export const expressions = listOf(expression);

/**
 * Describes an expression in text that compares equal for equal expressions: the attributes in order of their numbers, without
 * those that a dump adds. What is not known is described by name only.
 */
export function expressionText({ name, values }: ExpressionRecord): string {
  if (!values || !isKnown(name)) return `${name} (unknown)`;
  let text: string = name;
  for (const [label, form] of EXPRESSIONS[name].forms) {
    const value = values[label];
    if (value === undefined || (form === flags && value === 0)) continue;
    text += ` ${label} ${form === flags ? `0x${(value as number).toString(16)}` : valueText(value)}`;
  }
  return text;
}

function valueText(value: unknown): string {
  if (Buffer.isBuffer(value)) return value.toString('hex');
  if (value instanceof Uint8Array) return valueText(Buffer.from(value));
  if (typeof value !== 'object') return String(value);
  const { value: operand, verdict } = value as DataRecord;
  if (operand) return valueText(operand);
  if (!verdict) return 'nothing';
  const { code = 0, chain } = verdict;
  return `verdict ${code | 0}${chain === undefined ? '' : ` ${chain}`}`;
}

/** nft's word for a verdict; undefined for those that no rule of ours has. */
export function verdictName(code: number | undefined): keyof typeof VERDICT_CODES | undefined {
  return VERDICT_NAMES.get(code);
}

const VERDICT_NAMES = new Map(
  Object.entries(VERDICT_CODES).map(([name, code]) => [
    code as number | undefined,
    name as keyof typeof VERDICT_CODES,
  ]),
);

function isKnown(name: string): name is ExpressionName {
  return Object.hasOwn(EXPRESSIONS, name);
}

function layouts<const E extends Readonly<Record<string, Fields>>>(
  fields: E,
): { readonly [Name in keyof E]: AttributeLayout<E[Name]> } {
  const entries = Object.entries(fields).map(([name, its]) => [name, new AttributeLayout(its)]);
  return Object.fromEntries(entries) as { readonly [Name in keyof E]: AttributeLayout<E[Name]> };
}
