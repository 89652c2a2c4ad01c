/** Tables, rules, sets and elements as nft prints them. */

import type { IpFamily } from '../../domain/net/ip-family.js';
import { ruleText } from '../../domain/nftables/kernel/rule-text.js';
import type { KernelRule } from '../../domain/nftables/kernel/ruleset.js';
import {
  nftFamily,
  TABLE_NAME,
  type ChainDefinition,
  type SetDefinition,
  type SetElement,
  type DataType,
} from '../../domain/nftables/layout/table.js';
import { safeName, UnsafeTextError, safeComment } from '../../domain/nftables/safe-text.js';
import { componentOf, typeOf } from './netlink/components.js';
import { kernelElementOf } from './netlink/elements.js';

/** A whole table, for renderTable. */
export interface TableContent {
  /** The names of its counters. */
  readonly counters: readonly string[];
  readonly sets: readonly { readonly set: SetDefinition; readonly elements: readonly SetElement[] }[];
  readonly chains: readonly { readonly chain: ChainDefinition; readonly rules: readonly KernelRule[] }[];
}

/** The whole table as `nft list table` prints it, one element per line. `nft -f` loads it. Throws UnsafeTextError. */
export function renderTable(family: IpFamily, content: TableContent): string {
  const blocks = [
    ...content.counters.map(renderCounterBlock),
    ...content.sets.map(({ set, elements }) => renderSetBlock(family, set, elements)),
    ...content.chains.map(({ chain, rules }) => renderChainBlock(family, chain, rules)),
  ];
  return `table ${nftFamily(family)} ${TABLE_NAME} {\n${blocks.join('\n')}}\n`;
}

function renderCounterBlock(name: string): string {
  return `\tcounter ${safeName(name)} {\n\t\tpackets 0 bytes 0\n\t}\n`;
}

function renderSetBlock(family: IpFamily, set: SetDefinition, elements: readonly SetElement[]): string {
  const lines = [
    `${setKeyword(set)} ${safeName(set.name)} {`,
    ...renderDeclaration(family, set).map((line) => `\t${line}`),
  ];
  if (elements.length > 0) {
    lines.push(
      `\telements = { ${elements.map((element) => renderElement(family, set, element)).join(',\n\t\t\t     ')} }`,
    );
  }
  return `\t${lines.join('\n\t')}\n\t}\n`;
}

function renderChainBlock(
  family: IpFamily,
  { name, hook }: ChainDefinition,
  rules: readonly KernelRule[],
): string {
  const lines = [`chain ${safeName(name)} {`];
  // The priority is a number: nft rejects some names in some hooks.
  if (hook) lines.push(`\ttype ${hook.type} hook ${hook.hook} priority ${hook.priority}; policy accept;`);
  for (const rule of rules) lines.push(`\t${ruleText(rule, family)}`);
  return `\t${lines.join('\n\t')}\n\t}\n`;
}

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
    lines.push(`size ${set.dynamicSize}`, 'flags dynamic,timeout');
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
export function renderElement(family: IpFamily, set: SetDefinition, element: SetElement): string {
  kernelElementOf(family, set, element);
  const { key, value, comment } = element;
  const commented = comment === undefined ? key : `${key} comment "${comment}"`;
  return value === undefined ? commented : `${commented} : ${value}`;
}
