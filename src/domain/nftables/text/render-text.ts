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
  type Operation,
  type SetDefinition,
  type SetElement,
} from '../layout/table.js';

/** A whole table, for renderTable. */
export interface TableContent {
  readonly comment?: string;
  readonly sets: readonly { readonly set: SetDefinition; readonly elements: readonly SetElement[] }[];
  readonly chains: readonly { readonly chain: ChainDefinition; readonly rules: readonly Rule[] }[];
}

/** Elements in one `add element`: few enough for readable commands, enough to cost nothing. */
const ELEMENTS_PER_COMMAND = 200;

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

/**
 * The lines of `nft -f` for an operation. Those of add-elements and delete-elements have one element each,
 * so that nft's error messages, which name a line, name an element, which elementOfLine returns.
 */
export function* renderOperation(family: IpFamily, operation: Operation): Generator<string> {
  const table = `${nftFamily(family)} ${TABLE_NAME}`;
  switch (operation.op) {
    case 'add-table':
      yield `add table ${table} { comment "${safeComment(operation.comment)}" ; }`;
      break;
    case 'delete-table':
      yield `delete table ${table}`;
      break;
    case 'add-chain': {
      const { name, hook } = operation.chain;
      yield `add chain ${table} ${safeName(name)}${hook ? ` { ${renderHook(hook)} ; }` : ''}`;
      break;
    }
    case 'flush-chain':
    case 'delete-chain':
      yield `${operation.op === 'flush-chain' ? 'flush' : 'delete'} chain ${table} ${safeName(operation.chain)}`;
      break;
    case 'add-rule':
      yield `add rule ${table} ${safeName(operation.chain)} ${renderRule(family, operation.rule)}`;
      break;
    case 'add-set': {
      const { set } = operation;
      const declaration = renderDeclaration(family, set).map((line) => `${line} ; `);
      yield `add ${setKeyword(set)} ${table} ${safeName(set.name)} { ${declaration.join('')}}`;
      break;
    }
    case 'delete-set':
    case 'flush-set':
      yield `${operation.op === 'flush-set' ? 'flush' : 'delete'} ${setKeyword(operation.set)} ${table} ${safeName(operation.set.name)}`;
      break;
    case 'add-elements':
      yield* renderElements(`add element ${table}`, operation.set, operation.elements, renderElement);
      break;
    case 'delete-elements':
      yield* renderElements(`delete element ${table}`, operation.set, operation.elements, renderElementKey);
      break;
  }
}

function* renderElements(
  command: string,
  set: SetDefinition,
  elements: readonly SetElement[],
  render: (set: SetDefinition, element: SetElement) => string,
): Generator<string> {
  const opening = `${command} ${safeName(set.name)} {`;
  for (let start = 0; start < elements.length; start += ELEMENTS_PER_COMMAND) {
    yield opening;
    const end = Math.min(start + ELEMENTS_PER_COMMAND, elements.length);
    for (let index = start; index < end; index++)
      yield `${render(set, elements[index]!)}${index === end - 1 ? '' : ','}`;
    yield '}';
  }
}

/** A deletion names the key alone. */
function renderElementKey(set: SetDefinition, { key }: SetElement): string {
  return renderElement({ ...set, value: undefined }, { key });
}

/** The index of the element on the line (from 0) of an add-elements or delete-elements operation. */
export function elementOfLine(line: number): number | undefined {
  const linesPerCommand = ELEMENTS_PER_COMMAND + 2;
  const within = (line % linesPerCommand) - 1;
  if (within < 0 || within >= ELEMENTS_PER_COMMAND) return undefined;
  return Math.floor(line / linesPerCommand) * ELEMENTS_PER_COMMAND + within;
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
