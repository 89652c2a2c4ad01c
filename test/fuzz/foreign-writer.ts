/** Another program that changes rules of the node: what such a program does, and what is left. */

import { place } from '../model/addresses.js';
import type { Mode } from '../model/objects.js';
import type { Host } from '../support/testbed/host.js';
import { NodeIptables } from '../support/testbed/iptables-node.js';
import type { Random } from './random-cluster.js';
import type { IptablesVariant } from './story-node.js';

/**
 * Everything that proxies write on a node: chains and rules with their handles, so that what was written again shows, elements, virtual
 * servers, sets, and addresses. Without what packets change.
 */
export async function rulesOf(node: Host, mode: Mode): Promise<ReadonlySet<string>> {
  const listing = (await node.run(['nft', '-a', 'list', 'ruleset']))
    .replaceAll(/counter packets \d+ bytes \d+/g, 'counter')
    .replaceAll(/ (timeout \w+ )?expires \w+/g, '');
  const isOfPackets = /^\s*(set|map) affinity/;
  const parts = listing.split(/^\t\}$/m).filter((part) => !isOfPackets.test(part));
  const lines = parts.flatMap((part) => part.split(/[\n,]/)).map((text) => text.trim());
  const legacy = new NodeIptables(node, 'legacy');
  if (await hasLegacyTables(node))
    for (const family of FAMILIES)
      for (const line of await legacy.written(family)) lines.push(`${family} ${line}`);
  if (mode === 'ipvs') lines.push(...(await node.run(['sh', '-e'], LIST_IPVS)).split('\n'));
  return new Set(lines);
}

/** Has `rulesOf` list the chains of iptables-legacy that are written from now on: its rules have no handles. */
export async function markRules(node: Host): Promise<void> {
  const legacy = new NodeIptables(node, 'legacy');
  if (await hasLegacyTables(node)) for (const family of FAMILIES) await legacy.mark(family);
}

const FAMILIES = ['IPv4', 'IPv6'] as const;

const LIST_IPVS = `ipvsadm -S -n
  ipset save
  ip -br addr show kube-ipvs0 | tr ' ' '\\n'`;

async function hasLegacyTables(node: Host): Promise<boolean> {
  return (await node.run(['sh', '-c', 'cat /proc/net/ip_tables_names 2>/dev/null || true'])) !== '';
}

/** Whether TCP connections that a client opened to this address and port, and that lead to this endpoint, are ended. */
export type EndsConnections = (
  frontend: { readonly dst: string; readonly port: number },
  endpoint: string,
) => boolean;

const ENDS_NONE: EndsConnections = () => false;

/**
 * Removes one thing that the proxy wrote: a rule, all rules of a chain, a table; a virtual server, one of its endpoints, an address, or a
 * member of a set. Only IPVS ends connections then (docs/internals/ipvs.md): rules decide about new ones.
 */
export async function removeSomeRules(
  node: Host,
  mode: Mode,
  variant: IptablesVariant,
  random: Random,
): Promise<EndsConnections> {
  if (mode === 'ipvs' && random.is(0.6)) return removeOfIpvs(node, random);
  if (mode !== 'nftables' && variant === 'legacy') await removeLegacyRule(node, random);
  else await removeNftablesRules(node, mode, random);
  return ENDS_NONE;
}

async function removeNftablesRules(node: Host, mode: Mode, random: Random): Promise<void> {
  const table = random.one<Table>(mode === 'nftables' ? KUBE_PROXY_TABLES : IPTABLES_TABLES);
  const listing = await node.run(['nft', '-a', 'list', 'table', ...table]).catch(() => '');
  const kind = random.below(10);
  if (kind === 0 && listing !== '') await node.run(['nft', 'flush', 'table', ...table]);
  else if (kind === 1 && mode === 'nftables' && listing !== '')
    await node.run(['nft', 'delete', 'table', ...table]);
  else await removeRule(node, table, listing, random);
}

type Table = readonly [family: string, name: string];

const KUBE_PROXY_TABLES: readonly Table[] = [
  ['ip', 'kube-proxy'],
  ['ip6', 'kube-proxy'],
];
const IPTABLES_TABLES: readonly Table[] = [
  ['ip', 'nat'],
  ['ip', 'filter'],
  ['ip6', 'nat'],
  ['ip6', 'filter'],
];

async function removeRule(node: Host, table: Table, listing: string, random: Random): Promise<void> {
  const rules: { readonly chain: string; readonly handle: string }[] = [];
  let chain = '';
  for (const line of listing.split('\n')) {
    chain = /^\tchain (\S+) \{/.exec(line)?.[1] ?? chain;
    const handle = /^\t\t.*# handle (\d+)$/.exec(line)?.[1];
    if (handle !== undefined) rules.push({ chain, handle });
  }
  if (rules.length === 0) return;
  const rule = random.one(rules);
  await node.run(['nft', 'delete', 'rule', ...table, rule.chain, 'handle', rule.handle]);
}

async function removeLegacyRule(node: Host, random: Random): Promise<void> {
  const tool = random.one(['iptables-legacy', 'ip6tables-legacy']);
  const table = random.one(['nat', 'filter']);
  const saved = await node.run([`${tool}-save`, '-t', table]);
  const rules = saved.split('\n').filter((line) => line.startsWith('-A KUBE-'));
  if (rules.length === 0) return;
  const removal = random.one(rules).replace('-A', '-D');
  await node.run([`${tool}-restore`, '-w', '60', '--noflush'], `*${table}\n${removal}\nCOMMIT\n`);
}

async function removeOfIpvs(node: Host, random: Random): Promise<EndsConnections> {
  const lines = (await node.run(['sh', '-e'], LIST_IPVS)).split('\n');
  const removals = lines.flatMap((line) => {
    const [, server] = /^-A (-\w \S+)/.exec(line) ?? [];
    const [, real] = /^-a (-\w \S+ -r \S+)/.exec(line) ?? [];
    const [, member] = /^add (\S+ \S+)/.exec(line) ?? [];
    if (server !== undefined) return `ipvsadm -D ${server}`;
    if (real !== undefined) return `ipvsadm -d ${real}`;
    if (member !== undefined) return `ipset del ${member}`;
    return /^[\d.]+\/32$/.test(line) ? `ip addr del ${line} dev kube-ipvs0` : [];
  });
  if (removals.length === 0) return ENDS_NONE;
  const removal = random.one(removals);
  await node.run(['sh', '-e'], removal);
  return ({ dst, port }, endpoint) => {
    const server = place({ address: dst, port });
    return [`ipvsadm -D -t ${server}`, `ipvsadm -d -t ${server} -r ${endpoint}`].includes(removal);
  };
}
