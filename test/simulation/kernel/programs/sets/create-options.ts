import type { IpFamily } from '../../../../../src/domain/net/ip-family.js';
import type { IpSetContents } from './ip-sets.js';
import { MemberProblem, TYPES } from './members.js';

/** An argument that the tool does not know. */
export class UnknownArgument extends Error {
  override readonly name = 'UnknownArgument';
}

/**
 * A set as its type and options describe it, without members.
 * @throws MemberProblem, UnknownArgument
 */
export function newSet(name: string, type: string, words: readonly string[]): IpSetContents {
  const kinds = TYPES[type];
  if (!kinds) throw new MemberProblem(`Syntax error: typename '${type}' is unknown`);
  const isBitmap = type.startsWith('bitmap:');
  const known = isBitmap ? ['range'] : ['family', 'hashsize', 'maxelem', 'bucketsize', 'initval'];
  const given = new Map<string, string>();
  for (let at = 0; at < words.length; at += 2) {
    if (!known.includes(words[at]!)) throw new UnknownArgument(words[at]);
    given.set(words[at]!, words[at + 1] ?? '');
  }
  const maxelem = Number(given.get('maxelem') ?? 65536);
  const family: IpFamily = given.get('family') === 'inet6' ? 'IPv6' : 'IPv4';
  const options = isBitmap
    ? `range ${given.get('range') ?? '0-65535'}`
    : `family ${family === 'IPv6' ? 'inet6' : 'inet'} hashsize ${given.get('hashsize') ?? '1024'} maxelem ${maxelem}`;
  return {
    type,
    family: isBitmap ? 'any' : family,
    options,
    added: isBitmap ? '' : ` bucketsize 12 initval ${initialValue(name)}`,
    maxelem: isBitmap ? Infinity : maxelem,
    members: new Set(),
  };
}

/** The kernel takes it by chance. */
function initialValue(name: string): string {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(name)) value = Math.imul(value ^ byte, 0x01000193);
  return `0x${(value >>> 0).toString(16).padStart(8, '0')}`;
}
