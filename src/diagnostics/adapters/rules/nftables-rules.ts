/** The desired table of nftables mode: planned as text, and followed by packets without a kernel. */

import type { Tracer, Walk } from '../../application/ports/tracer.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import type { Side } from '../../domain/compare/side.js';
import { nftablesSide } from '../../domain/compare/nftables-side.js';
import { rejectedProtocols } from '../../../domain/forwarding/rejected-protocols.js';
import { compileNftables } from '../../../domain/nftables/compile.js';
import { NftablesDesiredState } from '../../../domain/nftables/state/desired-state.js';
import { desiredTable } from '../../../domain/nftables/state/desired-table.js';
import { RulesetWalk } from '../../domain/nftables/ruleset-walk.js';
import type { FindElement } from '../../domain/nftables/elements.js';
import type { DesiredWalk } from '../../domain/walk/desired-walk.js';
import { ConcernedEntries } from '../../domain/walk/desired-walk.js';
import { getOrMake } from '../../../domain/model/maps.js';
import type { Planner } from '../../application/plan.js';
import { renderTable, type TableContent } from '../../../adapters/nftables/render-text.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { KernelElement, KernelTable } from '../../../domain/nftables/kernel/ruleset.js';
import { nftFamily, TABLE_NAME, type Operation } from '../../../domain/nftables/layout/table.js';
import { readMessages } from '../../../adapters/netlink/message-reader.js';
import { MessageWriter } from '../../../adapters/netlink/message-writer.js';
import { BatchEncoder } from '../../../adapters/nftables/netlink/batch-encoder.js';
import { NEWSETELEM } from '../../../adapters/nftables/netlink/nf-tables.js';
import { kernelElement, kernelRule, kernelTable } from '../../../adapters/nftables/netlink/kernel-table.js';
import { ELEMENTS, recordOf } from '../../../adapters/nftables/netlink/records.js';
import { TableListing } from '../../../adapters/nftables/netlink/table-listing.js';

/** Follows packets through nftables mode. */
export class NftablesTracer implements Tracer {
  constructor(readonly actual: (signal?: AbortSignal) => Promise<Walk>) {}

  desired(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Walk {
    return nftablesDesiredWalk(entries, node);
  }

  planned(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<Side> {
    return Promise.resolve(plannedNftables(entries, node));
  }
}

/** The rules that nftables mode would write for these entries. */
export function plannedNftables(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Side {
  const desired = new NftablesDesiredState();
  const rejected = rejectedProtocols(node);
  for (const entry of entries) desired.replace(entry.key, compileNftables(entry, [], rejected));
  const written = new WrittenTable(node.family, desiredTable(desired, node));
  const ruleset = { tables: [written.table], deviceNumbers: new Map<string, number>() };
  return nftablesSide(ruleset, node.family, (_, { name }) => written.elements(name));
}

/** Many traced packets concern the same entries. */
const TABLES_KEPT = 100;

/** The table that these entries make, as the kernel would get it. For each packet what concerns that packet is compiled. */
export function nftablesDesiredWalk(all: Iterable<ForwardingEntry>, node: NodeNetwork): DesiredWalk {
  const entries = new ConcernedEntries(all);
  const rejected = rejectedProtocols(node);
  const tables = new Map<string, WrittenTable>();
  const tableOf = (concerned: readonly ForwardingEntry[]): WrittenTable => {
    const desired = new NftablesDesiredState();
    for (const entry of concerned) desired.replace(entry.key, compileNftables(entry, [], rejected));
    if (tables.size === TABLES_KEPT) tables.clear();
    return new WrittenTable(node.family, desiredTable(desired, node));
  };
  return {
    walk(packet, { localAddresses }) {
      const concerned = [...entries.of(packet)].sort((one, other) => (one.key < other.key ? -1 : 1));
      const written = getOrMake(tables, concerned.map(({ key }) => key).join(' '), () => tableOf(concerned));
      // Our rules match the input device by its name, and no other device.
      const ruleset = { tables: [written.table], deviceNumbers: new Map<string, number>() };
      const find: FindElement = (_, set, key) => written.find(set.name, key);
      return new RulesetWalk(ruleset, packet, localAddresses, find, () => undefined).endings();
    },
  };
}

/** Plans nftables mode: the table, as `nft -f` reads it. */
export class NftablesPlanner implements Planner {
  plan(entries: Iterable<ForwardingEntry>, node: NodeNetwork): string {
    const desired = new NftablesDesiredState();
    const rejected = rejectedProtocols(node);
    for (const entry of entries) desired.replace(entry.key, compileNftables(entry, [], rejected));
    return renderTable(node.family, desiredTable(desired, node));
  }
}

/** A table of ours as it is sent to the kernel, read back from the messages: what the kernel would list, without a kernel. */
export class WrittenTable {
  readonly table: KernelTable;
  /** By set and key. */
  private readonly elementsBySet = new Map<string, Map<string, KernelElement>>();

  /** @throws UnsafeTextError for what could not be sent */
  constructor(family: IpFamily, content: TableContent) {
    const writer = new MessageWriter();
    const encoder = new BatchEncoder(writer, family, 1);
    for (const _ of encoder.encode([...operations(content)])) continue;
    const listing = new TableListing(kernelRule);
    for (const message of readMessages(writer.bytes, writer.length)) {
      if (message.type !== NEWSETELEM) listing.read(message);
      else this.read(recordOf(ELEMENTS, message));
    }
    this.table = kernelTable(nftFamily(family), listing.tables.get(TABLE_NAME)!);
  }

  find(set: string, key: Uint8Array): KernelElement | undefined {
    return this.elementsBySet.get(set)?.get(textOf(key));
  }

  /** All elements of a set. */
  elements(set: string): readonly KernelElement[] {
    return [...(this.elementsBySet.get(set)?.values() ?? [])];
  }

  private read({ set = '', list = [] }: ReturnType<typeof ELEMENTS.read>): void {
    const known = getOrMake(this.elementsBySet, set, () => new Map<string, KernelElement>());
    for (const element of list.map(kernelElement)) known.set(textOf(element.key!), element);
  }
}

/** All that makes the table, in an order in which the kernel could take it. */
function* operations({ chains, counters, sets }: TableContent): Generator<Operation> {
  yield { op: 'add-table', comment: TABLE_NAME };
  for (const counter of counters) yield { op: 'add-counter', counter };
  for (const { set } of sets) yield { op: 'add-set', set };
  for (const { chain } of chains) yield { op: 'add-chain', chain };
  for (const { chain, rules } of chains)
    for (const rule of rules) yield { op: 'add-rule', chain: chain.name, rule };
  for (const { set, elements } of sets)
    if (set.dynamicSize === undefined) yield { op: 'add-elements', set, elements };
}

function textOf(key: Uint8Array): string {
  return Buffer.from(key).toString('latin1');
}
