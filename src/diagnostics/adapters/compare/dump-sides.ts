import { readFileSync } from 'node:fs';
import { errorMessage } from '../../../application/error-message.js';
import type { FamilySides } from '../../domain/compare/side.js';
import { ipvsSide, tablesSide } from '../../domain/compare/tables-side.js';
import type { IpSet } from '../../../domain/ipvs/ip-set.js';
import { SaveReader, type SavedTables } from '../../../domain/iptables/saved-tables.js';
import { NamedError } from '../../../domain/model/named-error.js';
import { familyOf, IP_FAMILIES, type IpFamily } from '../../../domain/net/ip-family.js';
import { type Listing, listedSide, parseJsonListing, parseListing } from '../nft-listing/listing.js';
import { parseSave as parseIpSets } from '../../../adapters/ipset/ipset-tool.js';
import { matchesServiceSets } from '../rules/ipvs-rules.js';
import { savedRules } from '../rules/iptables-rules.js';
import {
  SCHEDULER_FLAGS,
  PERSISTENT,
  virtualServerKey,
  type RealServer,
  type VirtualServerKey,
} from '../../../domain/ipvs/virtual-server.js';
import type { WalkedServer } from '../../domain/ipvs-walk.js';
import type { Protocol } from '../../../domain/model/service-port-name.js';
import { parseAddress } from '../../../domain/net/address.js';

/** A dump cannot be read, or is of no tool that is known; the message says which are. */
export class DumpError extends NamedError {}

/** What one file holds. */
type Dump =
  | { readonly kind: 'tables'; readonly family: IpFamily; readonly tables: SavedTables }
  | { readonly kind: 'servers' | 'sets'; readonly text: string }
  | { readonly kind: 'listing'; readonly listing: Listing };

/**
 * Reads files with what tools printed of one node, in any order: which tool it was shows in each.
 * @throws DumpError; ComparisonError for rules of userspace mode
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
      `${paths.join(', ')}: no rules; a dump of IPVS mode needs iptables-save beside ipvsadm and ipset`,
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

/** A line that `ipvsadm -S -n` never writes, or about a server that cannot be followed. */
class IpvsadmSyntaxError extends NamedError {
  constructor(line: string) {
    super(
      `${JSON.stringify(line.slice(0, 200))} is no line of \`ipvsadm -S -n\` about a server with an address and a port`,
    );
  }
}

const PROTOCOLS: Readonly<Record<string, Protocol>> = { '-t': 'TCP', '-u': 'UDP', '--sctp-service': 'SCTP' };
const LINE = /^-([Aa]) (\S+) (\S+) ?(.*)$/;

/** Virtual servers by firewall mark have no address: no Service is behind them. */
const FIREWALL_MARK = '-f';

/** Reads what `ipvsadm -S -n` printed, except virtual servers by firewall mark. @throws IpvsadmSyntaxError */
export function parseVirtualServers(text: string): ReadonlyMap<VirtualServerKey, WalkedServer> {
  const found = new Map<VirtualServerKey, WalkedServer & { readonly realServers: RealServer[] }>();
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const [, action, option = '', where = '', rest = ''] = LINE.exec(line.trim()) ?? [];
    if (option === FIREWALL_MARK) continue;
    const protocol = PROTOCOLS[option];
    if (action === undefined || !protocol) throw new IpvsadmSyntaxError(line);
    const server = { ...addressAndPort(where, line), protocol };
    const value = (name: string) => new RegExp(`(?:^| )${name} (\\S+)`).exec(rest)?.[1];
    const key = virtualServerKey(server);
    if (action === 'a') {
      const real = { ...addressAndPort(value('-r') ?? '', line), weight: Number(value('-w') ?? 1) };
      const known = found.get(key);
      if (!known) throw new IpvsadmSyntaxError(line);
      known.realServers.push(real);
      continue;
    }
    const persistenceSeconds = Number(value('-p') ?? 0);
    const names = value('-b')?.split(',') ?? [];
    const flags = names.reduce(
      (all, name) => all | (SCHEDULER_FLAGS[name] ?? 0),
      persistenceSeconds > 0 ? PERSISTENT : 0,
    );
    const scheduler = value('-s') ?? 'wlc';
    found.set(key, { server: { ...server, scheduler, flags, persistenceSeconds }, realServers: [] });
  }
  return found;
}

function addressAndPort(text: string, line: string): { readonly address: string; readonly port: number } {
  const [, bracketed, plain, port] = /^(?:\[(.*)\]|(.*)):(\d+)$/.exec(text) ?? [];
  const address = parseAddress(bracketed ?? plain);
  if (!address) throw new IpvsadmSyntaxError(line);
  return { address: address.text, port: Number(port) };
}
