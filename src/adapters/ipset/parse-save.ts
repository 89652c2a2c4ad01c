import type { IpSetHeader, IpSetType } from '../../domain/ipset/ip-set.js';
import { protocolText } from '../../domain/model/protocol-number.js';
import type { ReadIpSets } from './ip-sets.js';

const TYPES: ReadonlySet<string> = new Set<IpSetType>([
  'hash:ip',
  'hash:ip,port',
  'hash:ip,port,ip',
  'hash:ip,port,net',
  'bitmap:port',
]);
/** Options of every hash whose values change by themselves or do not matter. */
const UNIMPORTANT = /^(?:hashsize|bucketsize|initval)$/;

/** Parses the output of `ipset save`, of which only the named sets count. */
export function parseSave(saved: string, names: ReadonlySet<string>): ReadIpSets {
  const sets = new Map<string, IpSetHeader & { readonly members: Set<string> }>();
  const foreign: { name: string; description: string }[] = [];
  for (const line of saved.split('\n')) {
    const [command, name, first, ...rest] = line.split(' ');
    if (name === undefined || first === undefined || !names.has(name)) continue;
    if (command === 'add') sets.get(name)?.members.add(named(first));
    else if (command === 'create') {
      const header = headerOf(name, first, rest);
      if (header) sets.set(name, { ...header, members: new Set() });
      else foreign.push({ name, description: [first, ...rest].join(' ') });
    }
  }
  return { sets: [...sets.values()], foreign };
}

/** The header of a set of our types and options; undefined for any other. */
function headerOf(name: string, type: string, words: readonly string[]): IpSetHeader | undefined {
  if (!TYPES.has(type)) return undefined;
  let family: IpSetHeader['family'] = 'IPv4';
  for (let at = 0; at < words.length; at += 2) {
    const option = words[at]!;
    const value = words[at + 1] ?? '';
    if (option === 'family' && (value === 'inet' || value === 'inet6'))
      family = value === 'inet' ? 'IPv4' : 'IPv6';
    else if (!(option === 'maxelem' && value === '65536') && !(option === 'range' && value === '0-65535'))
      if (!UNIMPORTANT.test(option)) return undefined;
  }
  return { name, type: type as IpSetType, family };
}

/** Replaces a protocol's number, which the tool prints when it does not know the name. */
function named(member: string): string {
  return member.replace(/,(6|17|132):/, (_, number: string) => `,${protocolText(Number(number))}:`);
}
