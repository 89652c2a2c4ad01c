import type { AttributeReader } from '../../../netlink/attribute-reader.js';
import { DATA, EXPRESSION, LIST_ELEMENT, VERDICT } from '../nf-tables.js';

/** How an attribute is read. `flags` are omitted if zero, because older kernels do not send them then. */
type Form = 'number' | 'flags' | 'text' | 'data';
type Shape = Readonly<Record<number, readonly [label: string, form: Form]>>;

/** The attributes of each expression that the backend uses (docs/spec/nft-netlink.md §9). Others are ignored. */
const SHAPES: Readonly<Record<string, Shape>> = {
  payload: { 1: ['dreg', 'number'], 2: ['base', 'number'], 3: ['offset', 'number'], 4: ['length', 'number'] },
  meta: { 1: ['dreg', 'number'], 2: ['key', 'number'], 3: ['sreg', 'number'] },
  ct: { 1: ['dreg', 'number'], 2: ['key', 'number'], 3: ['direction', 'number'], 4: ['sreg', 'number'] },
  fib: { 1: ['dreg', 'number'], 2: ['result', 'number'], 3: ['flags', 'number'] },
  cmp: { 1: ['sreg', 'number'], 2: ['op', 'number'], 3: ['data', 'data'] },
  bitwise: {
    1: ['sreg', 'number'],
    2: ['dreg', 'number'],
    3: ['length', 'number'],
    4: ['mask', 'data'],
    5: ['xor', 'data'],
    6: ['op', 'flags'],
    7: ['data', 'data'],
  },
  byteorder: {
    1: ['sreg', 'number'],
    2: ['dreg', 'number'],
    3: ['op', 'number'],
    4: ['length', 'number'],
    5: ['size', 'number'],
  },
  lookup: { 1: ['set', 'text'], 2: ['sreg', 'number'], 3: ['dreg', 'number'], 5: ['flags', 'flags'] },
  numgen: { 1: ['dreg', 'number'], 2: ['modulus', 'number'], 3: ['type', 'number'], 4: ['offset', 'number'] },
  immediate: { 1: ['dreg', 'number'], 2: ['data', 'data'] },
  nat: {
    1: ['type', 'number'],
    2: ['family', 'number'],
    3: ['address-min', 'number'],
    4: ['address-max', 'number'],
    5: ['port-min', 'number'],
    6: ['port-max', 'number'],
    7: ['flags', 'flags'],
  },
  masq: { 1: ['flags', 'flags'], 2: ['port-min', 'number'], 3: ['port-max', 'number'] },
  reject: { 1: ['type', 'number'], 2: ['code', 'number'] },
  dynset: {
    1: ['set', 'text'],
    3: ['op', 'number'],
    4: ['key', 'number'],
    5: ['data', 'number'],
    6: ['timeout', 'number'],
    7: ['expression', 'data'],
    9: ['flags', 'flags'],
  },
};

/**
 * Describes the expressions of a rule, sent or dumped, in text that compares equal for equal rules: the attributes in
 * order of their numbers, without those that a dump adds. Expressions that the backend does not use are described by name only.
 */
export function expressionsText(list: AttributeReader): string {
  const texts: string[] = [];
  while (list.next()) if (list.type === LIST_ELEMENT) texts.push(expressionText(list.nested()));
  return texts.join('; ');
}

function expressionText(attributes: AttributeReader): string {
  let name = '';
  let data: AttributeReader | undefined;
  while (attributes.next()) {
    if (attributes.type === EXPRESSION.NAME) name = attributes.text();
    else if (attributes.type === EXPRESSION.DATA) data = attributes.nested();
  }
  const shape = Object.hasOwn(SHAPES, name) ? SHAPES[name] : undefined;
  if (!shape || !data) return `${name} (unknown)`;
  const found: [type: number, text: string][] = [];
  while (data.next()) {
    const [label, form] = shape[data.type] ?? [];
    const text = form && attributeText(data, form);
    if (text !== undefined) found.push([data.type, `${label} ${text}`]);
  }
  return [name, ...found.sort(([one], [other]) => one - other).map(([, text]) => text)].join(' ');
}

function attributeText(attribute: AttributeReader, form: Form): string | undefined {
  switch (form) {
    case 'number':
      return String(attribute.number());
    case 'flags': {
      const flags = attribute.number();
      return flags === 0 ? undefined : `0x${flags.toString(16)}`;
    }
    case 'text':
      return attribute.text();
    case 'data':
      return dataText(attribute.nested());
  }
}

function dataText(data: AttributeReader): string {
  while (data.next()) {
    if (data.type === DATA.VALUE) return data.value().toString('hex');
    if (data.type === DATA.VERDICT) return verdictText(readVerdict(data.nested()));
  }
  return 'nothing';
}

/** A verdict as the kernel sends it. */
export function readVerdict(attributes: AttributeReader): { readonly code: number; readonly chain?: string } {
  let code = 0;
  let chain: string | undefined;
  while (attributes.next()) {
    if (attributes.type === VERDICT.CODE) code = attributes.number();
    else if (attributes.type === VERDICT.CHAIN) chain = attributes.text();
  }
  return chain === undefined ? { code } : { code, chain };
}

function verdictText({ code, chain }: { readonly code: number; readonly chain?: string }): string {
  return `verdict ${code | 0}${chain === undefined ? '' : ` ${chain}`}`;
}
