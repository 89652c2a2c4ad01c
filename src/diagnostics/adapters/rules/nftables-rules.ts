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
import { renderTable, type TableContent } from '../../../adapters/nftables/render-text.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { KernelTable } from '../../../domain/nftables/kernel/ruleset.js';
import { nftFamily, TABLE_NAME } from '../../../domain/nftables/layout/table.js';
import { kernelElementOf } from '../../../adapters/nftables/netlink/elements.js';
import { setLayout } from '../../../adapters/nftables/netlink/set-layout.js';

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
  const { family } = node;
  const content = tableOf(entries, node);
  const sets = new Map(content.sets.map((each) => [each.set.name, each]));
  // Our rules match the input device by its name, and no other device.
  const ruleset = { tables: [kernelTableOf(family, content)], deviceNumbers: new Map<string, number>() };
  return nftablesSide(ruleset, family, (_, { name }) => {
    const { set, elements } = sets.get(name)!;
    return elements.map((element) => kernelElementOf(family, set, element));
  });
}

function tableOf(entries: Iterable<ForwardingEntry>, node: NodeNetwork): TableContent {
  const desired = new NftablesDesiredState();
  const rejected = rejectedProtocols(node);
  for (const entry of entries) desired.replace(entry.key, compileNftables(entry, [], rejected));
  return desiredTable(desired, node);
}

/** A table of ours as the kernel would list it. @throws UnsafeTextError for what could not be sent */
export function kernelTableOf(family: IpFamily, { chains, sets }: TableContent): KernelTable {
  return {
    family: nftFamily(family),
    name: TABLE_NAME,
    number: 0,
    chains: new Map(
      chains.map(({ chain: { name, hook }, rules }, number) => [
        name,
        { name, number, ...(hook && { hook: { ...hook, policy: 'accept' as const } }), rules },
      ]),
    ),
    sets: new Map(
      sets.map(({ set }) => [set.name, { name: set.name, keyLength: setLayout(family, set).keyLength }]),
    ),
  };
}
