import type { ListedChain, ListedRule, ListedSet, ListedTable, Listing, Value } from './listing.js';
import { parseElements, parseStatements, seconds } from './parse-statements.js';
import { Tokens } from './tokens.js';

const PRIORITIES: Readonly<Record<string, number>> = {
  raw: -300,
  mangle: -150,
  dstnat: -100,
  filter: 0,
  security: 50,
  srcnat: 100,
};

/** Reads what `nft list ruleset` or `nft list table` printed. @throws ListingSyntaxError */
export function parseListing(text: string): Listing {
  const tokens = new Tokens(text);
  const tables: ListedTable[] = [];
  for (tokens.skipLines(); !tokens.isAtEnd; tokens.skipLines()) {
    tokens.expect('table');
    const [family, name] = [tokens.take(), tokens.take()];
    tokens.expect('{');
    if (family === 'ip' || family === 'ip6' || family === 'inet') tables.push(table(tokens, family, name));
    else tokens.skipBlock();
  }
  return { tables };
}

function table(tokens: Tokens, family: ListedTable['family'], name: string): ListedTable {
  const chains: ListedChain[] = [];
  const sets: ListedSet[] = [];
  for (tokens.skipLines(); !tokens.takes('}'); tokens.skipLines()) {
    const kind = tokens.take();
    if (kind === 'comment' || kind === 'flags') {
      tokens.restOfLine();
      continue;
    }
    const its = tokens.take();
    tokens.expect('{');
    if (kind === 'chain') chains.push(chain(tokens, its));
    else if (kind === 'set' || kind === 'map') sets.push(set(tokens, its));
    else tokens.skipBlock();
  }
  return { family, name, chains, sets };
}

function chain(tokens: Tokens, name: string): ListedChain {
  const rules: ListedRule[] = [];
  let base = {};
  for (tokens.skipLines(); !tokens.takes('}'); tokens.skipLines()) {
    if (tokens.next === 'type') base = baseChain(tokens);
    else if (tokens.next === 'comment') tokens.restOfLine();
    else rules.push(parseStatements(tokens));
  }
  return { name, ...base, rules };
}

/** `type filter hook prerouting priority dstnat - 10; policy accept;` */
function baseChain(tokens: Tokens): Partial<ListedChain> {
  tokens.expect('type');
  const type = tokens.take();
  tokens.expect('hook');
  const hook = tokens.take();
  if (tokens.takes('device')) tokens.take();
  tokens.expect('priority');
  const first = tokens.take();
  let priority = PRIORITIES[first] ?? Number(first);
  if (tokens.takes('+')) priority += Number(tokens.take());
  else if (tokens.takes('-')) priority -= Number(tokens.take());
  tokens.skipLines();
  const policy = tokens.takes('policy') ? tokens.take() : 'accept';
  return { type, hook, priority, policy };
}

function set(tokens: Tokens, name: string): ListedSet {
  let type: readonly string[] = [];
  let value: readonly string[] | undefined;
  let flags: readonly string[] = [];
  let elements: readonly Value[] = [];
  let timeout: number | undefined;
  for (tokens.skipLines(); !tokens.takes('}'); tokens.skipLines()) {
    switch (tokens.take()) {
      case 'type': {
        const [key = '', its] = tokens.restOfLine().split(' : ');
        type = key.split(' . ');
        value = its?.split(' . ');
        break;
      }
      case 'flags':
        flags = tokens.restOfLine().split(',');
        break;
      case 'timeout':
        timeout = seconds(tokens.restOfLine());
        break;
      case 'elements':
        tokens.expect('=');
        elements = parseElements(tokens);
        break;
      default:
        tokens.restOfLine();
    }
  }
  return { name, type, ...(value && { value }), ...(timeout !== undefined && { timeout }), flags, elements };
}
