import { parseAddress } from '../../net/address.js';
import type { IpFamily } from '../../net/ip-family.js';
import { typeName } from './render-set.js';
import type { DataType, SetDefinition, SetElement } from '../layout/table.js';

const DATA_TYPES: readonly DataType[] = ['address', 'protocol', 'port', 'priority'];

/**
 * Reads the lines of a set's declaration (without its elements), as renderDeclaration or nft wrote them. Undefined if
 * the set has anything that a SetDefinition cannot express.
 */
export function parseDeclaration(
  family: IpFamily,
  kind: 'set' | 'map',
  name: string,
  lines: readonly string[],
): SetDefinition | undefined {
  let key: readonly DataType[] | undefined;
  let value: 'verdict' | readonly DataType[] | undefined;
  let size: number | undefined;
  let dynamic = false;
  let comment: string | undefined;
  for (const line of lines) {
    const [, word, rest] = /^(type|size|flags|comment) (.*?);?$/.exec(line) ?? [];
    if (word === undefined || rest === undefined) return undefined;
    if (word === 'size') size = Number(rest);
    else if (word === 'comment') comment = rest.slice(1, -1);
    else if (word === 'flags') {
      if (rest !== 'dynamic,timeout' && rest !== 'timeout,dynamic') return undefined;
      dynamic = true;
    } else {
      const [keyText, valueText] = rest.split(' : ');
      key = readTypes(family, keyText!);
      if (!key) return undefined;
      if (valueText !== undefined) value = valueText === 'verdict' ? valueText : readTypes(family, valueText);
    }
  }
  if (!key || (kind === 'map') !== (value !== undefined) || dynamic !== (size !== undefined))
    return undefined;
  return {
    name,
    key,
    ...(value !== undefined && { value }),
    ...(size !== undefined && { dynamicSize: size }),
    ...(comment !== undefined && { comment }),
  };
}

function readTypes(family: IpFamily, text: string): readonly DataType[] | undefined {
  const types: DataType[] = [];
  for (const word of text.split(' . ')) {
    const type = DATA_TYPES.find((candidate) => word === typeName(family, candidate));
    if (!type) return undefined;
    types.push(type);
  }
  return types;
}

/** nft prints numbers where /etc/protocols is missing. */
const PROTOCOL_NAMES: Readonly<Record<string, string>> = { '6': 'tcp', '17': 'udp', '132': 'sctp' };

/** Reads elements of one set into their canonical form. */
export class ElementReader {
  private readonly key: ComponentReader;
  private readonly value: ComponentReader | undefined;

  constructor(set: SetDefinition) {
    this.key = new ComponentReader(set.key);
    this.value = Array.isArray(set.value) ? new ComponentReader(set.value) : undefined;
  }

  /** `key`, `key : value`, with `comment "…"` after either; other attributes (`timeout`, `expires`, `counter`) are dropped. */
  read(text: string): SetElement {
    let plain = text;
    let comment: string | undefined;
    const quote = text.indexOf(' comment "');
    if (quote >= 0) {
      const end = text.indexOf('"', quote + 10);
      comment = text.slice(quote + 10, end);
      plain = text.slice(0, quote) + text.slice(end + 1);
    }
    const colon = plain.indexOf(' : ');
    const key = this.key.read(withoutAttributes(colon < 0 ? plain : plain.slice(0, colon)));
    const valueText = colon < 0 ? undefined : plain.slice(colon + 3);
    const value =
      valueText === undefined || !this.value ? valueText : this.value.read(withoutAttributes(valueText));
    if (comment !== undefined) return value === undefined ? { key, comment } : { key, value, comment };
    return value === undefined ? { key } : { key, value };
  }
}

function withoutAttributes(text: string): string {
  const attribute = text.search(/ (?:timeout|expires|counter|limit|quota) /);
  return attribute < 0 ? text : text.slice(0, attribute);
}

/** Reads concatenations of certain types into their canonical form, changing only what may be printed in two ways. */
class ComponentReader {
  private readonly protocols: readonly number[];
  private readonly addresses: readonly number[];

  constructor(types: readonly DataType[]) {
    const positions = (wanted: DataType) => types.flatMap((type, index) => (type === wanted ? [index] : []));
    this.protocols = positions('protocol');
    this.addresses = positions('address');
  }

  read(text: string): string {
    if (!this.mayVary(text)) return text;
    const parts = text.split(' . ');
    for (const index of this.protocols) parts[index] = PROTOCOL_NAMES[parts[index]!] ?? parts[index]!;
    for (const index of this.addresses) {
      const part = parts[index]!;
      if (part.includes(':') && part.includes('.')) parts[index] = canonicalAddress(part);
    }
    return parts.join(' . ');
  }

  private mayVary(text: string): boolean {
    return (
      (this.protocols.length > 0 && !/tcp|udp|sctp/.test(text)) ||
      (this.addresses.length > 0 && text.includes('::'))
    );
  }
}

/** The C library writes the last 32 bits of addresses such as `::102:304` as dotted quads. */
function canonicalAddress(text: string): string {
  const quad = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  if (!quad) return text;
  const [, head, a, b, c, d] = quad;
  const word = (high: string, low: string) => (Number(high) * 256 + Number(low)).toString(16);
  const plain = `${head}${word(a!, b!)}:${word(c!, d!)}`;
  return parseAddress(plain)?.family === 'IPv6' ? parseAddress(plain)!.text : plain;
}
