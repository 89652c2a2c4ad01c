/** Somebody else who changes rules of the node: what such a program does, and what is left. */

import type { Mode } from '../model/objects.js';
import type { Host } from '../support/testbed/host.js';
import type { Random } from './random-cluster.js';

/**
 * Everything in the tables of the node: chains and rules with their handles, so that what was written again shows, and elements. Without
 * what packets change.
 */
export async function rulesOf(node: Host): Promise<ReadonlySet<string>> {
  const listing = (await node.run(['nft', '-a', 'list', 'ruleset']))
    .replaceAll(/counter packets \d+ bytes \d+/g, 'counter')
    .replaceAll(/ (timeout \w+ )?expires \w+/g, '');
  const isOfPackets = /^\s*(set|map) affinity/;
  const parts = listing.split(/^\t\}$/m).filter((part) => !isOfPackets.test(part));
  return new Set(parts.flatMap((part) => part.split(/[\n,]/)).map((text) => text.trim()));
}

/** Removes one thing of the proxy's rules: a rule, all rules of a chain, or a table with all that is in it. */
export async function removeSomeRules(node: Host, mode: Mode, random: Random): Promise<void> {
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
