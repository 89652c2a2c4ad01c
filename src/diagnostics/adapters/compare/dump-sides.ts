import { readFileSync } from 'node:fs';
import { errorMessage } from '../../../application/error-message.js';
import type { FamilySides } from '../../application/compare/family-sides.js';
import { ipvsSide, tablesSide } from '../../domain/compare/tables-side.js';
import type { IpSet } from '../../../domain/ipvs/ip-set.js';
import { SaveReader, type SavedTables } from '../../../domain/iptables/saved-tables.js';
import { NamedError } from '../../../domain/model/named-error.js';
import { familyOf, IP_FAMILIES, type IpFamily } from '../../../domain/net/ip-family.js';
import { listedSide } from '../nftables/listing/listed-sides.js';
import type { Listing } from '../nftables/listing/listing.js';
import { parseJsonListing } from '../nftables/listing/parse-json.js';
import { parseListing } from '../nftables/listing/parse-text.js';
import { parseSave as parseIpSets } from '../../../adapters/ipset/ipset-tool.js';
import { matchesServiceSets } from '../ipvs/ipvs-tracer.js';
import { parseVirtualServers } from './parse-virtual-servers.js';
import { savedRules } from './saved-rules.js';

/** A dump cannot be read, or is of no tool that is known; the message says which are. */
export class DumpError extends NamedError {}

/** What one file holds. */
type Dump =
  | { readonly kind: 'tables'; readonly family: IpFamily; readonly tables: SavedTables }
  | { readonly kind: 'servers' | 'sets'; readonly text: string }
  | { readonly kind: 'listing'; readonly listing: Listing };

/**
 * Reads files with what tools printed of one node, in any order: which tool it was shows in each.
 * @throws DumpError; ComparisonError for rules of mode userspace
 */
export function dumpSides(paths: readonly string[]): FamilySides {
  const dumps = paths.map(readDump);
  const texts = (kind: 'servers' | 'sets') =>
    dumps.flatMap((dump) => (dump.kind === kind ? dump.text : [])).join('\n');
  const servers = [...parseVirtualServers(texts('servers'))];
  const sets = allSets(texts('sets'));
  const listing = { tables: dumps.flatMap((dump) => (dump.kind === 'listing' ? dump.listing.tables : [])) };
  const hasServers = dumps.some(({ kind }) => kind === 'servers');
  const sides: FamilySides = {};
  for (const family of IP_FAMILIES) {
    const tables = dumps.flatMap((dump) =>
      dump.kind === 'tables' && dump.family === family ? dump.tables : [],
    );
    const listed = listedSide(listing, family);
    if (listed && tables.length > 0)
      throw new DumpError(
        'rules of iptables and of nftables together: where iptables is iptables-nft, what nft lists has both',
      );
    if (listed) sides[family] = listed;
    if (tables.length === 0) continue;
    const rules = savedRules(tables, `the dump ${paths.join(', ')}`);
    const its = servers.filter(([, { server }]) => familyOf(server.address) === family);
    sides[family] =
      hasServers && matchesServiceSets(tables, family)
        ? ipvsSide({
            rules,
            sets: sets.filter((set) => set.family === family || set.type === 'bitmap:port'),
            servers: new Map(its),
            addresses: serviceAddresses(
              its.map(([, { server }]) => server.address),
              sets,
            ),
          })
        : tablesSide(rules);
  }
  if (Object.keys(sides).length === 0)
    throw new DumpError(
      `${paths.join(', ')}: no rules; a dump of mode ipvs needs iptables-save beside ipvsadm and ipset`,
    );
  return sides;
}

/** Servers of node ports have addresses that the node has anyway; only those of Services are in sets of addresses. */
function serviceAddresses(ofServers: readonly string[], sets: readonly IpSet[]): ReadonlySet<string> {
  const named = new Set(
    sets
      .filter(({ name }) => !name.includes('NODE-PORT'))
      .flatMap(({ members }) => [...members].map((member) => member.split(',')[0]!)),
  );
  return new Set(ofServers.filter((address) => sets.length === 0 || named.has(address)));
}

function readDump(path: string): Dump {
  try {
    return dumpOf(path, readFileSync(path, 'utf8'));
  } catch (error) {
    throw new DumpError(`cannot read the dump ${path}: ${errorMessage(error)}`);
  }
}

function dumpOf(path: string, text: string): Dump {
  if (/^\*\w+$/m.test(text)) {
    const family = savedFamily(path, text);
    const reader = new SaveReader(family);
    reader.read(text);
    return { kind: 'tables', family, tables: reader.finish() };
  }
  if (/^\s*\{/.test(text)) return { kind: 'listing', listing: parseJsonListing(text) };
  if (/^table \w+ \S+ \{/m.test(text)) return { kind: 'listing', listing: parseListing(text) };
  if (/^-A (?:-[tuf]|--sctp-service) /m.test(text) || (text.trim() === '' && /ipvs/.test(path)))
    return { kind: 'servers', text };
  if (/^create \S+ \w+:/m.test(text) || (text.trim() === '' && /ipset/.test(path)))
    return { kind: 'sets', text };
  throw new DumpError(
    'it is not what iptables-save, ip6tables-save, nft list ruleset, nft -j list ruleset, ipvsadm -S -n or ipset save prints',
  );
}

/** By what the tool says of itself, else by addresses, else by the name of the file. */
function savedFamily(path: string, text: string): IpFamily {
  const [, tool] = /^# Generated by (ip6?tables)-/m.exec(text) ?? [];
  if (tool !== undefined) return tool === 'ip6tables' ? 'IPv6' : 'IPv4';
  if (/ -[sd] \S*:|icmp6-/.test(text)) return 'IPv6';
  if (/ -[sd] \d+\.|icmp-port/.test(text)) return 'IPv4';
  return /ip6|ipv6/i.test(path) ? 'IPv6' : 'IPv4';
}

function allSets(text: string) {
  const names = [...text.matchAll(/^create (\S+)/gm)].map(([, name]) => name!);
  return parseIpSets(text, new Set(names)).sets;
}
