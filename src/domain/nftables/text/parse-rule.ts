import { parseAddress } from '../../net/address.js';
import { addressBits } from '../../net/cidr.js';
import type { IpFamily } from '../../net/ip-family.js';
import { networkText, parseNetwork } from './network.js';
import { parsePriority } from '../layout/priority.js';
import { networkMask } from './render-statement.js';
import type { Comparison, Key, KeyField, Rule, Statement } from '../layout/rule.js';
import { nftFamily } from '../layout/table.js';

/**
 * Reads a rule that renderRule wrote, or that nft listed. Understands the known differences between nft's versions and
 * options (numbers for names, forms of `dnat`, hex without padding). Undefined for rules that this program would not
 * write.
 */
export function parseRule(family: IpFamily, text: string): Rule | undefined {
  const { body, comment } = splitComment(text.trim());
  const statements: Statement[] = [];
  let rest = body;
  while (rest !== '') {
    const read = readStatement(family, rest);
    if (!read) return undefined;
    statements.push(read.statement);
    rest = read.rest;
  }
  if (statements.length === 0) return undefined;
  return comment === undefined ? { statements } : { statements, comment };
}

function splitComment(text: string): { body: string; comment?: string } {
  const match = /^(.*?) ?comment "([^"]*)"$/.exec(text);
  return match ? { body: match[1]!, comment: match[2]! } : { body: text };
}

const FIELD = 'meta l4proto|meta priority|th dport|ip6? daddr|ip6? saddr(?: & [0-9a-f.:]+)?';
const KEY = `((?:${FIELD})(?: \\. (?:${FIELD}))*)`;
const NAME = '([A-Za-z][A-Za-z0-9_./-]*)';
const NOT = '(!= )?';
const HEX = '0x([0-9a-f]{1,8})';

type Make = (family: IpFamily, parts: readonly (string | undefined)[]) => Statement | undefined;

/** Each form of a statement, and what it means. The first match wins, so the longer of two comes first. */
const FORMS: readonly (readonly [RegExp, Make])[] = [
  form(`(?:meta )?priority set none`, () => ({ kind: 'set-priority', to: 'none' })),
  form(`(?:meta )?priority set ${KEY} map @${NAME}`, (family, [key, map]) =>
    withKey(family, key, (to) => ({ kind: 'set-priority', to: { key: to, map: map! } })),
  ),
  form('(?:meta )?priority set numgen random mod (\\d+)(?: offset (\\d+))?', (_, [modulus, offset]) => ({
    kind: 'set-priority',
    to: { modulus: Number(modulus), offset: Number(offset ?? 0) },
  })),
  form(`(?:meta )?priority >= (none|root|[0-9a-f]*:[0-9a-f]*)`, (_, [value]) => ({
    kind: 'priority-at-least',
    value: parsePriority(value!),
  })),
  form(`${KEY} vmap @${NAME}`, (family, [text, map]) =>
    withKey(family, text, (key) => ({ kind: 'verdict-map', key, map: map! })),
  ),
  form(`${KEY} ${NOT}@${NAME}`, (family, [text, differs, set]) =>
    withKey(family, text, (key) => ({ kind: 'member', key, set: set!, is: comparison(differs) })),
  ),
  form(`(ip6?) (saddr|daddr) ${NOT}([0-9a-f.:/]+)`, readAddress),
  form(`iifname ${NOT}"([^"*]+)(\\*)?"`, (_, [differs, name, wildcard]) => ({
    kind: 'input-interface',
    is: comparison(differs),
    name: name!,
    wildcard: wildcard !== undefined,
  })),
  form(`th dport ${NOT}(\\d+)`, (_, [differs, port]) => ({
    kind: 'dport',
    is: comparison(differs),
    port: Number(port),
  })),
  form('fib (saddr|daddr) type (?:local|2)', (_, [field]) => ({
    kind: 'local-address',
    field: field as 'saddr' | 'daddr',
  })),
  form('ct state (?:new|0x8)', () => ({ kind: 'new-connection' })),
  form('ct status (?:dnat|0x20)', () => ({ kind: 'translated' })),
  form(`(?:meta )?mark & ${HEX} != 0x0+`, (_, [mark]) => withBit(mark, (bit) => ({ kind: 'mark-has', bit }))),
  form('(?:meta )?mark != 0x0+/1', () => ({ kind: 'mark-has', bit: 31 })),
  form(`(?:meta )?mark set (?:meta )?mark \\| ${HEX}`, (_, [mark]) =>
    withBit(mark, (bit) => ({ kind: 'mark-set', bit })),
  ),
  form(`(?:meta )?mark set (?:meta )?mark \\^ ${HEX}`, (_, [mark]) =>
    withBit(mark, (bit) => ({ kind: 'mark-flip', bit })),
  ),
  form(`update @${NAME} \\{ ${KEY} timeout ([0-9dhms]+) \\}`, (family, [set, text, time]) => {
    const timeoutSeconds = parseSeconds(time!);
    if (timeoutSeconds === undefined) return undefined;
    return withKey(family, text, (key) => ({ kind: 'remember', key, set: set!, timeoutSeconds }));
  }),
  form(`dnat (?:ip6? )?(?:addr \\. port )?to ${KEY} map @${NAME}`, (family, [text, map]) =>
    withKey(family, text, (key) => ({ kind: 'dnat', key, map: map! })),
  ),
  form('masquerade fully-random', () => ({ kind: 'masquerade' })),
  form('(reject|drop|return)', (_, [kind]) => ({ kind: kind as 'reject' | 'drop' | 'return' })),
  form(`(jump|goto) ${NAME}`, (_, [kind, chain]) => ({ kind: kind as 'jump' | 'goto', chain: chain! })),
];

function form(pattern: string, make: Make): readonly [RegExp, Make] {
  return [new RegExp(`^${pattern}(?: |$)`), make];
}

function readStatement(family: IpFamily, text: string): { statement: Statement; rest: string } | undefined {
  for (const [pattern, make] of FORMS) {
    const match = pattern.exec(text);
    if (!match) continue;
    const statement = make(family, match.slice(1));
    return statement && { statement, rest: text.slice(match[0].length) };
  }
  return undefined;
}

function comparison(differs: string | undefined): Comparison {
  return differs === undefined ? '==' : '!=';
}

function readAddress(
  family: IpFamily,
  [protocol, field, differs, text]: readonly (string | undefined)[],
): Statement | undefined {
  if (protocol !== nftFamily(family)) return undefined;
  const network = parseNetwork(family, text!);
  return (
    network && {
      kind: 'address',
      field: field as 'saddr' | 'daddr',
      is: comparison(differs),
      network: networkText(network),
    }
  );
}

function withKey(
  family: IpFamily,
  text: string | undefined,
  make: (key: Key) => Statement,
): Statement | undefined {
  const key: KeyField[] = [];
  for (const part of text!.split(' . ')) {
    const field = readField(family, part);
    if (!field) return undefined;
    key.push(field);
  }
  return make(key);
}

function readField(family: IpFamily, text: string): KeyField | undefined {
  const protocol = nftFamily(family);
  switch (text) {
    case 'meta l4proto':
      return { field: 'l4proto' };
    case 'meta priority':
      return { field: 'priority' };
    case 'th dport':
      return { field: 'dport' };
    case `${protocol} daddr`:
      return { field: 'daddr' };
    case `${protocol} saddr`:
      return { field: 'saddr' };
  }
  const masked = /^(ip6?) saddr & (.+)$/.exec(text);
  if (masked?.[1] !== protocol) return undefined;
  const prefixLength = prefixLengthOf(family, masked[2]!);
  return prefixLength === undefined ? undefined : { field: 'saddr', prefixLength };
}

function prefixLengthOf(family: IpFamily, mask: string): number | undefined {
  const canonical = parseAddress(mask)?.text;
  for (let length = 0; length < addressBits(family); length++) {
    if (networkMask(family, length) === canonical) return length;
  }
  return undefined;
}

function withBit(hex: string | undefined, make: (bit: number) => Statement): Statement | undefined {
  const bit = Math.log2(parseInt(hex!, 16));
  return Number.isInteger(bit) ? make(bit) : undefined;
}

const SECONDS: Readonly<Record<string, number>> = { d: 86400, h: 3600, m: 60, s: 1 };

/** `10800s`, `3h`, `1d30m`. */
function parseSeconds(text: string): number | undefined {
  if (!/^(?:\d+[dhms])+$/.test(text)) return undefined;
  let seconds = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+)([dhms])/g)) seconds += Number(amount) * SECONDS[unit!]!;
  return seconds;
}
