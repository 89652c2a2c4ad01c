import { existsSync } from 'node:fs';
import { release } from 'node:os';
import { proxyChains } from '../../adapters/iptables/owned-chains.js';
import { IptablesTool } from '../../adapters/iptables/iptables-tool.js';
import { NetlinkVirtualServers } from '../../adapters/ipvs/netlink-virtual-servers.js';
import { NetlinkError } from '../../adapters/netlink/errors.js';
import { listChainsOfTables } from '../../adapters/nftables/netlink/table-listing.js';
import { errorMessage } from '../../application/error-message.js';
import type { FoundRules, NodeRules } from '../domain/compare/node-rules.js';
import { cidrContains, type Cidr } from '../../domain/net/cidr.js';
import { IP_FAMILIES } from '../../domain/net/ip-family.js';
import { TABLE_NAME } from '../../domain/nftables/layout/table.js';
import { withEachVariant } from '../../bootstrap/modes/iptables-access.js';

/**
 * Reads the rules that any service proxy has left on this machine, and changes nothing.
 * @param excluded virtual servers in these networks are of others
 */
export async function readNodeRules(excluded: readonly Cidr[]): Promise<NodeRules> {
  const rules: FoundRules[] = [];
  const unseen = [...(await addIptables(rules))];
  for (const family of IP_FAMILIES) {
    const chains = await listChainsOfTables(family);
    const count = chains.filter(({ table }) => table === TABLE_NAME).length;
    if (count > 0) rules.push({ place: 'nftables', family, count });
  }
  const schedulers = await addVirtualServers(rules, unseen, excluded);
  return { kernel: release(), iptables: await iptablesHere(), rules, schedulers, unseen };
}

function addIptables(rules: FoundRules[]): Promise<readonly string[]> {
  return withEachVariant(IP_FAMILIES, async (tool, variant, family) => {
    const saved = await tool.save(family);
    const chains = proxyChains(saved.flatMap((table) => table.chains.map(({ name }) => name)));
    if (chains.length > 0) rules.push({ place: `iptables-${variant}`, family, count: chains.length });
  });
}

/** To ask a kernel for IPVS may load it. */
const LOADED = '/proc/net/ip_vs';

/** @returns the schedulers that they use */
async function addVirtualServers(
  rules: FoundRules[],
  unseen: string[],
  excluded: readonly Cidr[],
): Promise<readonly string[]> {
  if (!existsSync(LOADED)) return [];
  const servers = new NetlinkVirtualServers();
  const schedulers = new Set<string>();
  try {
    for (const family of IP_FAMILIES) {
      const all = await servers.list(family);
      const listed = all.filter(({ address }) => !excluded.some((cidr) => cidrContains(cidr, address)));
      for (const { scheduler } of listed) schedulers.add(scheduler);
      if (listed.length > 0) rules.push({ place: 'ipvs', family, count: listed.length });
    }
  } catch (error) {
    if (!(error instanceof NetlinkError)) throw error;
    unseen.push(`cannot check for virtual servers: ${error.message}`);
  } finally {
    servers.close();
  }
  return [...schedulers].sort();
}

async function iptablesHere(): Promise<string> {
  const tool = new IptablesTool();
  try {
    const { variant, version } = await tool.identify();
    return `${variant} ${version}`;
  } catch (error) {
    return errorMessage(error);
  } finally {
    tool.close();
  }
}
