import type { ServicePortKey } from '../model/service-port-name.js';
import type { TableComposition } from './composition.js';
import { nodeChains, type ChainRules, type NodeRules } from './node-rules.js';
import { classElement, structureRules, type Structure } from './structure.js';
import { sourcesSet } from './sets.js';
import type { Operation } from './table.js';
import { sourceLengths } from './table-image.js';
import type { TableDelta } from './table-delta.js';

/** Operations in order, with the service ports behind the elements of each, where any are. */
export class Transaction {
  readonly operations: Operation[] = [];
  private readonly owners = new Map<number, readonly (ServicePortKey | undefined)[]>();

  add(operation: Operation, owners?: readonly (ServicePortKey | undefined)[]): void {
    if (owners) this.owners.set(this.operations.length, owners);
    this.operations.push(operation);
  }

  /** Adds a chain's rules to a chain that is there and empty. */
  addRules({ chain, rules }: ChainRules): void {
    for (const rule of rules) this.add({ op: 'add-rule', chain: chain.name, rule });
  }

  /** The service port behind an element of an operation. */
  owner(operation: number, element: number): ServicePortKey | undefined {
    return this.owners.get(operation)?.[element];
  }

  /** All service ports behind an operation's elements. */
  ownersOf(operation: number): readonly ServicePortKey[] {
    return [...new Set((this.owners.get(operation) ?? []).filter((owner) => owner !== undefined))];
  }
}

/**
 * The transaction that carries a delta into the kernel. Chains that no class needs any more are emptied, not deleted:
 * before Linux 6.2 a chain cannot go in the transaction that removes the last element pointing to it
 * (spec/nftables.md 9). They are `retired` instead, for a later transaction.
 */
export function deltaTransaction(
  delta: TableDelta,
  composition: TableComposition,
  node: NodeRules,
): { readonly transaction: Transaction; readonly retired: readonly string[] } {
  const transaction = new Transaction();
  const { arrivals, departures } = delta;
  for (const { kind, name } of arrivals)
    if (kind !== 'sources') transaction.add({ op: 'add-chain', chain: { name } });
  for (const structure of arrivals) addStructure(structure, node, transaction);
  if ([...arrivals, ...departures].some(({ kind }) => kind === 'sources'))
    rewriteFirewall(composition, node, transaction);
  for (const { set, removed, removedFor, added, addedFor } of delta.sets()) {
    if (removed.length > 0) transaction.add({ op: 'delete-elements', set, elements: removed }, removedFor);
    if (added.length > 0) transaction.add({ op: 'add-elements', set, elements: added }, addedFor);
  }
  const retired: string[] = [];
  for (const structure of departures) {
    removeStructure(structure, transaction);
    if (structure.kind !== 'sources') retired.push(structure.name);
  }
  return { transaction, retired };
}

function addStructure(structure: Structure, node: NodeRules, transaction: Transaction): void {
  if (structure.kind === 'sources')
    transaction.add({ op: 'add-set', set: sourcesSet(structure.prefixLength) });
  transaction.addRules({ chain: { name: structure.name }, rules: structureRules(structure, node) ?? [] });
  const placed = classElement(structure);
  if (placed) transaction.add({ op: 'add-elements', set: placed.set, elements: [placed.element] });
}

function removeStructure(structure: Structure, transaction: Transaction): void {
  const placed = classElement(structure);
  if (placed) transaction.add({ op: 'delete-elements', set: placed.set, elements: [placed.element] });
  if (structure.kind === 'sources')
    transaction.add({ op: 'delete-set', set: sourcesSet(structure.prefixLength) });
  else transaction.add({ op: 'flush-chain', chain: structure.name });
}

function rewriteFirewall(composition: TableComposition, node: NodeRules, transaction: Transaction): void {
  const firewall = nodeChains(node, sourceLengths(composition)).find(
    ({ chain }) => chain.name === 'firewall-check',
  )!;
  transaction.add({ op: 'flush-chain', chain: firewall.chain.name });
  transaction.addRules(firewall);
}
