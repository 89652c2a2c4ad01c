import { constants } from 'node:os';
import type { IpFamily } from '../../../../src/domain/net/ip-family.js';
import type { Programs } from './programs.js';
import type { Rule } from './rules/rule.js';
import { BUILT_IN, printedChains, type Chain, type Table } from './tables/table.js';

/** AF_INET and AF_INET6, and the levels of their options. */
const LEVELS: Readonly<Record<number, { readonly level: number; readonly family: IpFamily }>> = {
  2: { level: 0, family: 'IPv4' },
  10: { level: 41, family: 'IPv6' },
};
/** IPT_SO_GET_INFO, IP6T_SO_GET_INFO. */
const GET_INFO = 64;
/** struct ipt_getinfo. */
const INFO_BYTES = 84;
const NAME_BYTES = 32;
const FIRST_HOOK = 36;
const FIRST_UNDERFLOW = 56;
const ENTRIES = 76;
const SIZE = 80;
/** In the order of the hooks' numbers. */
const HOOKS = ['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING'];
/** Bytes of struct ipt_entry and ip6t_entry. */
const ENTRY_BYTES = { IPv4: 112, IPv6: 168 } as const;
const VERDICT_BYTES = 40;
const ERROR_BYTES = 64;
/** Bytes of a match or a target with its header, where they differ from those of most. */
const EXTENSION_BYTES: Readonly<Record<string, number>> = {
  comment: 288,
  conntrack: 200,
  recent: 272,
  limit: 72,
};
const USUAL_EXTENSION_BYTES = 48;
const { ENOENT, ENOPROTOOPT, EINVAL } = constants.errno;

/**
 * `getsockopt` of a raw socket, as far as ip_tables answers it: what it tells of a table (IPT_SO_GET_INFO). Sizes are like the
 * kernel's, but not the same.
 * @param value what is asked, with the table's name; takes the answer
 * @returns an errno; 0 for success
 */
export function legacyGetsockopt(
  programs: Programs,
  domain: number,
  level: number,
  option: number,
  value: Buffer,
): number {
  const place = LEVELS[domain];
  if (place?.level !== level || option !== GET_INFO || programs.faults.unsupported.has('legacy'))
    return ENOPROTOOPT;
  if (value.length < INFO_BYTES) return EINVAL;
  const name = value.toString('latin1', 0, NAME_BYTES).replace(/\0.*$/s, '');
  if (!BUILT_IN[name]) return ENOENT;
  // To ask for a table makes it.
  writeInfo(value, programs.tableSet(place.family, 'legacy').draft(name).before, place.family);
  return 0;
}

function writeInfo(info: Buffer, table: Table, family: IpFamily): void {
  info.fill(0, NAME_BYTES, INFO_BYTES);
  const entryBytes = ENTRY_BYTES[family];
  let entries = 0;
  let offset = 0;
  let hooks = 0;
  for (const chain of printedChains(table)) {
    const hook = chain.policy === undefined ? -1 : HOOKS.indexOf(chain.name);
    const isOwn = hook < 0;
    // A chain that is not built in begins with an entry that has its name; each ends with its policy, or with a return.
    if (isOwn) offset += entryBytes + ERROR_BYTES;
    else {
      hooks |= 1 << hook;
      info.writeUInt32LE(offset, FIRST_HOOK + 4 * hook);
    }
    offset += rulesBytes(chain, entryBytes);
    if (!isOwn) info.writeUInt32LE(offset, FIRST_UNDERFLOW + 4 * hook);
    offset += entryBytes + VERDICT_BYTES;
    entries += chain.entries.length + (isOwn ? 2 : 1);
  }
  info.writeUInt32LE(hooks, NAME_BYTES);
  info.writeUInt32LE(entries + 1, ENTRIES);
  info.writeUInt32LE(offset + entryBytes + ERROR_BYTES, SIZE);
}

const bytesOf = new WeakMap<Rule, number>();

function rulesBytes({ entries }: Chain, entryBytes: number): number {
  let bytes = 0;
  for (const rule of entries) {
    let own = bytesOf.get(rule);
    if (own === undefined) {
      const extensions = rule.extensions.map(({ name }) => EXTENSION_BYTES[name] ?? USUAL_EXTENSION_BYTES);
      const isTarget = rule.extensions.some(({ name }) => name === rule.target);
      own = extensions.reduce((sum, size) => sum + size, isTarget ? 0 : VERDICT_BYTES);
      bytesOf.set(rule, own);
    }
    bytes += entryBytes + own;
  }
  return bytes;
}
