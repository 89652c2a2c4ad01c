import type { IpSetHeader, IpSetType } from '../../domain/ipset/ip-set.js';
import type { ReadIpSets } from './ip-sets.js';

const TYPES: ReadonlySet<string> = new Set<IpSetType>([
  'hash:ip',
  'hash:ip,port',
  'hash:ip,port,ip',
  'hash:ip,port,net',
  'bitmap:port',
]);
/** Options that every hash has, whose values change by themselves or do not matter. */
const UNIMPORTANT = /^(?:hashsize|bucketsize|initval)$/;
const NAMES: Readonly<Record<string, string>> = { '6': 'tcp', '17': 'udp', '132': 'sctp' };

/** Reads what `ipset save` printed, as far as it is about the named sets. */
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

/** The header of a set as ours are made; undefined for any other. */
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

/** A protocol by its name, where the tool did not know it. */
function named(member: string): string {
  return member.replace(/,(6|17|132):/, (_, number: string) => `,${NAMES[number]}:`);
}
