import { nftablesSide } from '../../domain/compare/nftables-side.js';
import type { Side, FamilySides } from '../../domain/compare/side.js';
import { ipvsSide, tablesSide } from '../../domain/compare/tables-side.js';
import { proxyTables, type SavedRules } from '../../domain/iptables/saved-rules.js';
import type { SavedTables } from '../../../domain/iptables/saved-tables.js';
import { virtualServerKey } from '../../../domain/ipvs/virtual-server.js';
import { cidrContains, type Cidr } from '../../../domain/net/cidr.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { isOurs } from '../../domain/nftables/kernel-packet-state.js';
import type { KernelElement, KernelSet, KernelTable } from '../../../domain/nftables/kernel/ruleset.js';
import { IpSetTool } from '../../../adapters/ipset/ipset-tool.js';
import { IptablesTool } from '../../../adapters/iptables/iptables-tool.js';
import { unless } from '../../../adapters/ipvs/clean-up-ipvs.js';
import { NetlinkServiceAddresses } from '../../../adapters/ipvs/netlink-service-addresses.js';
import { NetlinkVirtualServers } from '../../../adapters/ipvs/netlink-virtual-servers.js';
import { matchesServiceSets, setsIn } from '../rules/ipvs-rules.js';
import { readElements, readRuleset } from '../rules/nftables-kernel.js';
import { isWithoutNfTables } from '../../../adapters/nftables/netlink/table-listing.js';
import { NetlinkChannel } from '../../../adapters/netlink/netlink-channel.js';
import { NetlinkSocket } from '../../../adapters/netlink/netlink-socket.js';
import { NETLINK_NETFILTER, NETLINK_ROUTE } from '../../../adapters/netlink/protocol.js';
import { listLinks } from '../../../adapters/rtnetlink/rtnetlink.js';
import { ToolMissingError } from '../../../adapters/tool-programs.js';
import { savedRules } from '../rules/iptables-rules.js';

/**
 * What the kernel has now, whichever proxy wrote it: IPVS where rules match against its sets, nf_tables where it has the table of a
 * proxy, else the tables of iptables.
 * @param excluded without rules of programs that are no service proxies, which a plan does not have either, and without virtual servers
 *   in these networks; undefined: everything
 * @throws what reading throws: ToolError, NetlinkError; ComparisonError for rules of userspace mode
 */
export async function kernelSides(
  families: readonly IpFamily[],
  excluded?: readonly Cidr[],
): Promise<FamilySides> {
  const proxiesOnly = excluded !== undefined;
  const sides: FamilySides = {};
  for (const family of families)
    sides[family] =
      (await ipvsIn(family, proxiesOnly, excluded ?? [])) ??
      (await nftablesIn(family, proxiesOnly)) ??
      (await tablesIn(family, proxiesOnly));
  return sides;
}

async function tablesIn(family: IpFamily, proxiesOnly: boolean): Promise<Side> {
  const tool = new IptablesTool();
  try {
    return tablesSide(kernelRules(await tool.save(family), proxiesOnly));
  } finally {
    tool.close();
  }
}

function kernelRules(saved: SavedTables, proxiesOnly: boolean): SavedRules {
  return savedRules(proxiesOnly ? proxyTables(saved) : saved, 'what the kernel has');
}

async function ipvsIn(
  family: IpFamily,
  proxiesOnly: boolean,
  excluded: readonly Cidr[],
): Promise<Side | undefined> {
  const device = new NetlinkServiceAddresses();
  const servers = new NetlinkVirtualServers();
  const tool = new IptablesTool();
  const ipsets = new IpSetTool();
  try {
    // Nodes without the device need no iptables. Where other modes serve, it may be left over.
    const addresses = await device.list(family);
    const saved = addresses && (await tool.save(family).catch(unless(ToolMissingError)));
    if (!saved || !matchesServiceSets(saved, family)) return undefined;
    const { sets } = await ipsets.read(setsIn(saved, family));
    const all = await servers.list(family);
    const listed = all.filter(({ address }) => !excluded.some((cidr) => cidrContains(cidr, address)));
    return ipvsSide({
      rules: kernelRules(saved, proxiesOnly),
      sets,
      servers: new Map(
        listed.map((server) => [virtualServerKey(server), { server, realServers: server.realServers }]),
      ),
      addresses: new Set(addresses),
    });
  } finally {
    for (const each of [device, servers, tool, ipsets]) each.close();
  }
}

/** With all elements of all sets. */
async function nftablesIn(family: IpFamily, proxiesOnly: boolean): Promise<Side | undefined> {
  const links = await NetlinkChannel.during(() => NetlinkSocket.open(NETLINK_ROUTE), listLinks);
  return NetlinkChannel.during(
    () => NetlinkSocket.open(NETLINK_NETFILTER),
    (channel) =>
      channel.runExclusive(async (conversation) => {
        const read = await readRuleset(conversation, family);
        if (!read.tables.some(isOurs)) return undefined;
        const counts = (table: KernelTable): boolean => !proxiesOnly || isOurs(table);
        const tables = read.tables.filter(counts);
        const elements = new Map<KernelSet, readonly KernelElement[]>();
        for (const table of tables)
          for (const set of table.sets.values())
            elements.set(set, await readElements(conversation, { table, set, keys: 'all' }));
        const deviceNumbers = new Map(links.map(({ name, index }) => [name, index]));
        const side = nftablesSide({ tables, deviceNumbers }, family, (_, set) => elements.get(set)!);
        const unsupported = read.unsteady
          .filter(counts)
          .map(({ name }) => `another program changes table ${name} all the time`);
        return { ...side, unsupported: [...side.unsupported, ...unsupported] };
      }),
  ).catch((error: unknown) => {
    if (isWithoutNfTables(error)) return undefined;
    throw error;
  });
}
