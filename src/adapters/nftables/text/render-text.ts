import type { IpFamily } from '../../../domain/net/ip-family.js';
import { renderDeclaration, renderElement, setKeyword } from './render-set.js';
import { ruleText } from '../../../domain/nftables/kernel/rule-text.js';
import { ruleRecord } from '../netlink/encode/rule-encoder.js';
import { kernelRule } from '../netlink/read/kernel-table.js';
import type { Rule } from '../../../domain/nftables/layout/rule.js';
import { safeName, safeNumber, UnsafeTextError } from '../../../domain/nftables/text/safe-text.js';
import {
  nftFamily,
  TABLE_NAME,
  type ChainDefinition,
  type Hook,
  type SetDefinition,
  type SetElement,
} from '../../../domain/nftables/layout/table.js';

/** A whole table, for renderTable. */
export interface TableContent {
  /** The names of its counters. */
  readonly counters: readonly string[];
  readonly sets: readonly { readonly set: SetDefinition; readonly elements: readonly SetElement[] }[];
  readonly chains: readonly { readonly chain: ChainDefinition; readonly rules: readonly Rule[] }[];
}

/** A rule in the words of `nft --numeric-priority --numeric-time list`. Throws UnsafeTextError. */
export function renderRule(family: IpFamily, rule: Rule): string {
  if (rule.statements.length === 0) throw new UnsafeTextError('rule', '', 'at least one statement');
  return ruleText(kernelRule(ruleRecord(family, rule)), family);
}

/** `type nat hook output priority -100`. The priority is a number: nft refuses some names in some hooks. */
export function renderHook(hook: Hook): string {
  return `type ${hook.type} hook ${hook.hook} priority ${safeNumber('chain priority', hook.priority, -0x80000000, 0x7fffffff)}`;
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
      `\telements = { ${elements.map((element) => renderElement(set, element)).join(',\n\t\t\t     ')} }`,
    );
  }
  return `\t${lines.join('\n\t')}\n\t}\n`;
}

function renderChainBlock(family: IpFamily, chain: ChainDefinition, rules: readonly Rule[]): string {
  const lines = [`chain ${safeName(chain.name)} {`];
  if (chain.hook) lines.push(`\t${renderHook(chain.hook)}; policy accept;`);
  for (const rule of rules) lines.push(`\t${renderRule(family, rule)}`);
  return `\t${lines.join('\n\t')}\n\t}\n`;
}
