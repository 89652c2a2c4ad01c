import { componentOf, typeOf } from '../netlink/read/components.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import {
  safeComment,
  safeConcatenation,
  safeName,
  safeNumber,
  safeVerdict,
  UnsafeTextError,
} from '../../../domain/nftables/text/safe-text.js';
import type { DataType, SetDefinition, SetElement } from '../../../domain/nftables/layout/table.js';

/** nft's word for the kind of set. */
export function setKeyword(set: SetDefinition): 'set' | 'map' {
  return set.value === undefined ? 'set' : 'map';
}

/** The lines of a set's declaration, as nft lists them. Throws UnsafeTextError. */
export function renderDeclaration(family: IpFamily, set: SetDefinition): string[] {
  const { key, value } = set;
  if (key.length === 0 || value?.length === 0)
    throw new UnsafeTextError('set', set.name, 'a key (and a value) of at least one component');
  const names = (types: readonly DataType[]) =>
    types.map((type) => typeOf(componentOf(family, type)).name).join(' . ');
  const valueText = value === undefined ? '' : ` : ${value === 'verdict' ? value : names(value)}`;
  const lines = [set.key.includes('slot') ? typeofText(set) : `type ${names(key)}${valueText}`];
  if (set.dynamicSize !== undefined) {
    lines.push(`size ${safeNumber('set size', set.dynamicSize, 1, 0xffffffff)}`, 'flags dynamic,timeout');
  }
  if (set.comment !== undefined) lines.push(`comment "${safeComment(set.comment)}"`);
  return lines;
}

/** nft declares the type of numbers that are drawn by an example. */
function typeofText({ key, value }: SetDefinition): string {
  const examples = (types: readonly DataType[]) =>
    types.map((type) => (type === 'slot' ? 'numgen random mod 2' : 'meta priority')).join(' . ');
  return `typeof ${examples(key)} : ${examples(value as readonly DataType[])}`;
}

/** One element as nft writes it: key, comment, value. Throws UnsafeTextError. */
export function renderElement(set: SetDefinition, element: SetElement): string {
  const key = safeConcatenation(element.key, set.key.length);
  const commented = element.comment === undefined ? key : `${key} comment "${safeComment(element.comment)}"`;
  if (set.value === undefined) {
    if (element.value !== undefined)
      throw new UnsafeTextError('element', element.key, `no value in the set ${safeName(set.name)}`);
    return commented;
  }
  if (element.value === undefined)
    throw new UnsafeTextError('element', element.key, `a value in the map ${safeName(set.name)}`);
  const value =
    set.value === 'verdict' ? safeVerdict(element.value) : safeConcatenation(element.value, set.value.length);
  return `${commented} : ${value}`;
}
