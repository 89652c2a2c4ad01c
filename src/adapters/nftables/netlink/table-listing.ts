import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { KernelChain, KernelRule } from '../../../domain/nftables/kernel/ruleset.js';
import { EINVAL, NetlinkRequestError } from '../../netlink/errors.js';
import type { NetlinkMessage } from '../../netlink/message-reader.js';
import type { MessageWriter } from '../../netlink/message-writer.js';
import { NetlinkChannel } from '../../netlink/netlink-channel.js';
import { NetlinkSocket } from '../../netlink/netlink-socket.js';
import { familyNumber, NETLINK_NETFILTER } from '../../netlink/protocol.js';
import type { RunQuery } from './queries.js';
import { kernelChain, kernelRule, type ListedTable } from './kernel-table.js';
import * as nf from './nf-tables.js';
import { CHAIN, recordOf, RULE, SET, TABLE, type SetRecord } from './records.js';

interface OpenTable extends ListedTable {
  readonly chains: Map<string, KernelChain & { readonly rules: KernelRule[] }>;
  readonly sets: Map<string, SetRecord>;
  isTorn: boolean;
}

/**
 * Lists the tables of a family, or one of them, once. The kernel lists chains of all tables and finds its place again by counting,
 * so it skips one if chains of another table are deleted meanwhile; the rules, listed by table, reveal that.
 */
export async function listTables(query: RunQuery, only?: string): Promise<ReadonlyMap<string, ListedTable>> {
  const tables = new Map<string, OpenTable>();
  // Objects of tables that are not listed are passed over.
  const read = (message: NetlinkMessage): void => {
    switch (message.type) {
      case nf.NEWTABLE: {
        const table = recordOf(TABLE, message);
        tables.set(table.name!, { table, chains: new Map(), sets: new Map(), isTorn: false });
        return;
      }
      case nf.NEWCHAIN: {
        const record = recordOf(CHAIN, message);
        const rules: KernelRule[] = [];
        tables.get(record.table!)?.chains.set(record.name!, { ...kernelChain(record, rules), rules });
        return;
      }
      case nf.NEWRULE: {
        const record = recordOf(RULE, message);
        const table = tables.get(record.table!);
        const chain = table?.chains.get(record.chain!);
        if (chain) chain.rules.push(kernelRule(record));
        else if (table) table.isTorn = true;
        return;
      }
      case nf.NEWSET: {
        const set = recordOf(SET, message);
        tables.get(set.table!)?.sets.set(set.name!, set);
      }
    }
  };
  // The table's name is attribute number 1 of every object.
  const of = (name: string) => (writer: MessageWriter) => writer.putText(1, name);
  const list = (type: number, name: string, table?: string) =>
    query({ type, name, all: true, ...(table !== undefined && { put: of(table) }), onMessage: read });
  if (only === undefined) await list(nf.GETTABLE, 'GETTABLE');
  else await query({ type: nf.GETTABLE, name: 'GETTABLE', put: of(only), onMessage: read });
  if (tables.size > 0) await list(nf.GETCHAIN, 'GETCHAIN', only);
  for (const [name, table] of tables)
    if (!(await list(nf.GETRULE, 'GETRULE', name)) || !(await list(nf.GETSET, 'GETSET', name)))
      table.isTorn = true;
  return tables;
}

/**
 * The names of all chains of nf_tables in a family, of all programs, including iptables-nft. None if the kernel has no
 * nf_tables.
 * @throws NetlinkError if the kernel cannot be reached
 */
export async function listChains(family: IpFamily): Promise<readonly string[]> {
  return (await listChainsOfTables(family)).map(({ name }) => name);
}

/** As `listChains`, each with the table that it is in. */
export async function listChainsOfTables(
  family: IpFamily,
): Promise<readonly { readonly table: string; readonly name: string }[]> {
  const openSocket = () => NetlinkSocket.open(NETLINK_NETFILTER);
  const attempt = `GETCHAIN for ${family} of nf_tables`;
  const put = (writer: MessageWriter): void => writer.putWord(familyNumber(family));
  try {
    return await NetlinkChannel.during(openSocket, (channel) =>
      channel.list({ type: nf.GETCHAIN, attempt, put }, (message) => {
        const { table, name } = recordOf(CHAIN, message);
        return { table: table!, name: name! };
      }),
    );
  } catch (error) {
    if (isWithoutNfTables(error)) return [];
    throw error;
  }
}

/** Whether the error means that the kernel has no nf_tables at all. */
export function isWithoutNfTables(error: unknown): boolean {
  return error instanceof NetlinkRequestError && error.errno === EINVAL;
}
