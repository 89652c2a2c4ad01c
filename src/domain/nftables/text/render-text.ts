import type { IpFamily } from '../../net/ip-family.js';
import { renderDeclaration, renderElement, setKeyword } from './render-set.js';
import { renderStatement } from './render-statement.js';
import type { Rule } from '../layout/rule.js';
import { safeComment, safeName, safeNumber, UnsafeTextError } from './safe-text.js';
import {
  nftFamily,
  TABLE_NAME,
  type ChainDefinition,
  type Hook,
  type SetDefinition,
  type SetElement,
} from '../layout/table.js';

/** A whole table, for renderTable. */
export interface TableContent {
  readonly comment?: string;
  readonly sets: readonly { readonly set: SetDefinition; readonly elements: readonly SetElement[] }[];
  readonly chains: readonly { readonly chain: ChainDefinition; readonly rules: readonly Rule[] }[];
}

/** A rule in the words of `nft --numeric-priority --numeric-time list`. Throws UnsafeTextError. */
export function renderRule(family: IpFamily, rule: Rule): string {
  if (rule.statements.length === 0) throw new UnsafeTextError('rule', '', 'at least one statement');
  const statements = rule.statements.map((statement) => renderStatement(family, statement)).join(' ');
  return rule.comment === undefined ? statements : `${statements} comment "${safeComment(rule.comment)}"`;
}

/** `type nat hook output priority -100`. The priority is a number: nft refuses some names in some hooks. */
export function renderHook(hook: Hook): string {
  return `type ${hook.type} hook ${hook.hook} priority ${safeNumber('chain priority', hook.priority, -0x80000000, 0x7fffffff)}`;
}

/** The whole table as `nft list table` prints it, one element per line. `nft -f` loads it. Throws UnsafeTextError. */
export function renderTable(family: IpFamily, content: TableContent): string {
  const blocks = [
    ...content.sets.map(({ set, elements }) => renderSetBlock(family, set, elements)),
    ...content.chains.map(({ chain, rules }) => renderChainBlock(family, chain, rules)),
  ];
  const comment =
    content.comment === undefined
      ? ''
      : `\tcomment "${safeComment(content.comment)}"\n${blocks.length > 0 ? '\n' : ''}`;
  return `table ${nftFamily(family)} ${TABLE_NAME} {\n${comment}${blocks.join('\n')}}\n`;
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
