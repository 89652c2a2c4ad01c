/** The desired table of nftables mode: planned as text, and followed by packets without a kernel. */

import type { Tracer } from '../../application/ports/tracer.js';
import type { Walk } from '../../domain/walk/desired-walk.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import { type NodeNetwork, rejectedProtocols } from '../../../domain/forwarding/node-network.js';
import type { Side } from '../../domain/compare/side.js';
import { nftablesSide } from '../../domain/compare/nftables-side.js';
import { compileNftables } from '../../../domain/nftables/compile.js';
import { NftablesDesiredState } from '../../../domain/nftables/state/desired-state.js';
import { desiredTable } from '../../../domain/nftables/state/desired-table.js';
import { getOrMake } from '../../../domain/model/maps.js';
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

/** The rules of nftables mode. */
export class NftablesTracer implements Tracer {
  constructor(readonly actual: (signal?: AbortSignal) => Promise<Walk>) {}

  /** The table, as `nft -f` reads it. */
  plan(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<string> {
    return Promise.resolve(renderTable(node.family, tableOf(entries, node)));
  }

  desired(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<Side> {
    return Promise.resolve(plannedNftables(entries, node));
  }
}

/** The rules that nftables mode would write for these entries. */
export function plannedNftables(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Side {
  const written = new WrittenTable(node.family, tableOf(entries, node));
  // Our rules match the input device by its name, and no other device.
  const ruleset = { tables: [written.table], deviceNumbers: new Map<string, number>() };
  return nftablesSide(ruleset, node.family, (_, { name }) => written.elements(name));
}

function tableOf(entries: Iterable<ForwardingEntry>, node: NodeNetwork): TableContent {
  const desired = new NftablesDesiredState();
  const rejected = rejectedProtocols(node);
  for (const entry of entries) desired.replace(entry.key, compileNftables(entry, [], rejected));
  return desiredTable(desired, node);
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
