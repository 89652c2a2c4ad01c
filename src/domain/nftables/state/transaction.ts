/** The transactions that write a change to the table. */

import isEqual from 'fast-deep-equal';
import type { NodeNetwork } from '../../forwarding/node-network.js';
import type { ServicePortKey } from '../../model/service-port-name.js';
import { nodeChains, type ChainRules } from '../layout/node-rules.js';
import { NODEPORT_IPS } from '../layout/sets.js';
import { nodeStructures, type Structure } from '../layout/structure.js';
import type { Operation, SetDefinition } from '../layout/table.js';
import type { NftablesDesiredState } from './desired-state.js';
import { sourceLengths, nodePortKeys, tableChains } from './desired-table.js';
import type { OwnedElements, TableChange } from './service-port-rules.js';

/** Operations in order, with the service ports of their elements, if any. */
export class Transaction {
  readonly operations: Operation[] = [];
  private readonly owners = new Map<number, readonly (ServicePortKey | undefined)[]>();

  add(operation: Operation, owners?: readonly (ServicePortKey | undefined)[]): void {
    if (owners) this.owners.set(this.operations.length, owners);
    this.operations.push(operation);
  }

  /** How much it writes: each element of a set counts, as each rule does. */
  get steps(): number {
    return this.operations.reduce(
      (sum, operation) => sum + ('elements' in operation ? operation.elements.length : 1),
      0,
    );
  }

  /** Adds a chain's rules to an existing empty chain. */
  addRules({ chain, rules }: ChainRules): void {
    for (const rule of rules) this.add({ op: 'add-rule', chain: chain.name, rule });
  }

  /** The service port of an element of an operation. */
  owner(operation: number, element: number): ServicePortKey | undefined {
    return this.owners.get(operation)?.[element];
  }

  /** The service ports of all elements. */
  *servicePorts(): Generator<ServicePortKey> {
    for (const owners of this.owners.values())
      for (const owner of owners) if (owner !== undefined) yield owner;
  }
}

/** Structures by name. */
type Structures = ReadonlyMap<string, Structure>;

/** The three transactions that write a change, in this order. Each may be empty. */
interface ChangeTransactions {
  /** The chains and sets that elements are about to lead to. */
  readonly structures: Transaction;
  readonly elements: Transaction;
  /** Removes elements that nothing leads to any more. */
  readonly unused: Transaction;
}

/**
 * The transactions that write a change. A transaction is atomic for the table, but not for a packet that is being
 * processed: it follows the rules as they were when it entered its base chain, while each lookup sees the elements of
 * its own moment. So a packet must never be led to something that did not exist when it entered, nor to something that
 * is gone at the lookup: new structures are created before elements lead to them, what elements led to is removed after
 * them, and structures that are unused from now on stay for a while.
 */
export function changeTransactions(
  change: TableChange,
  desired: NftablesDesiredState,
  node: NodeNetwork,
  unused: Structures,
): ChangeTransactions {
  const structures = new Transaction();
  const created = change.newStructures.filter(({ name }) => !unused.has(name));
  for (const { name, set } of created) if (!set) structures.add({ op: 'add-chain', chain: { name } });
  for (const structure of created) addStructure(structure, node, structures);
  if (created.some(isSources)) {
    const present = [...desired.structures(), ...change.unusedStructures, ...unused.values()];
    rewriteFirewall(present, desired, node, structures);
  }
  const elements = new Transaction();
  const unreached = new Transaction();
  for (const { set, removed, added, unused: last } of change.sets()) {
    changeElements('delete-elements', set, removed, elements);
    changeElements('delete-elements', set, last, unreached);
    changeElements('add-elements', set, added, elements);
  }
  return { structures, elements, unused: unreached };
}

/**
 * The transactions that remove the unused ones of the `present` structures, once no packet can be on its way to them.
 * Two, because before Linux 6.2 a chain cannot be deleted in the transaction that removes the last element or rule
 * pointing to it (docs/internals/spec/nftables.md §9).
 */
export function removalsOf(
  unused: Structures,
  present: readonly Structure[],
  desired: Pick<NftablesDesiredState, 'keepsKubeProxyRules'>,
  node: NodeNetwork,
): readonly Transaction[] {
  const emptying = new Transaction();
  const deletion = new Transaction();
  if ([...unused.values()].some(isSources))
    rewriteFirewall(
      present.filter(({ name }) => !unused.has(name)),
      desired,
      node,
      emptying,
    );
  for (const { name, set, counter, leading } of unused.values()) {
    if (leading) emptying.add({ op: 'delete-elements', set: leading.set, elements: [leading.element] });
    if (set) {
      deletion.add({ op: 'delete-set', set });
    } else {
      emptying.add({ op: 'flush-chain', chain: name });
      deletion.add({ op: 'delete-chain', chain: name });
    }
    if (counter !== undefined) deletion.add({ op: 'delete-counter', counter });
  }
  return [emptying, deletion];
}

function changeElements(
  op: 'add-elements' | 'delete-elements',
  set: SetDefinition,
  { elements, owners }: OwnedElements,
  transaction: Transaction,
): void {
  if (elements.length > 0) transaction.add({ op, set, elements }, owners);
}

function isSources({ prefixLength }: Structure): boolean {
  return prefixLength !== undefined;
}

function addStructure(
  { name, set, counter, rules, leading }: Structure,
  node: NodeNetwork,
  transaction: Transaction,
): void {
  if (set) transaction.add({ op: 'add-set', set });
  if (counter !== undefined) transaction.add({ op: 'add-counter', counter });
  transaction.addRules({ chain: { name }, rules: rules?.(node) ?? [] });
  if (leading) transaction.add({ op: 'add-elements', set: leading.set, elements: [leading.element] });
}

function rewriteFirewall(
  present: readonly Structure[],
  { keepsKubeProxyRules }: Pick<NftablesDesiredState, 'keepsKubeProxyRules'>,
  node: NodeNetwork,
  transaction: Transaction,
): void {
  const shape = { sourceLengths: sourceLengths(present), keepsKubeProxyRules };
  const firewall = nodeChains(node, shape).find(({ chain }) => chain.name === 'firewall-check')!;
  transaction.add({ op: 'flush-chain', chain: firewall.chain.name });
  transaction.addRules(firewall);
}

/** Notes the structures that come and go with a change of the node. */
export function changeNodeStructures(before: NodeNetwork, after: NodeNetwork, change: TableChange): void {
  for (const structure of nodeStructures(after)) change.structureCame(structure);
  for (const structure of nodeStructures(before)) change.structureWent(structure);
}

/**
 * Adds the operations that a change of the node (its addresses, service ranges, options) requires, besides those for its
 * structures.
 */
export function nodeTransaction(
  before: NodeNetwork,
  after: NodeNetwork,
  desired: NftablesDesiredState,
  transaction: Transaction,
): void {
  const former = new Map(tableChains(desired, before).map(({ chain, rules }) => [chain.name, rules]));
  for (const chain of tableChains(desired, after)) {
    const rules = former.get(chain.chain.name);
    if (rules === undefined || isEqual(rules, chain.rules)) continue;
    transaction.add({ op: 'flush-chain', chain: chain.chain.name });
    transaction.addRules(chain);
  }
  const previous = nodePortKeys(before);
  const present = nodePortKeys(after);
  const removed = previous.filter((key) => !present.includes(key)).map((key) => ({ key }));
  const added = present.filter((key) => !previous.includes(key)).map((key) => ({ key }));
  if (removed.length > 0) transaction.add({ op: 'delete-elements', set: NODEPORT_IPS, elements: removed });
  if (added.length > 0) transaction.add({ op: 'add-elements', set: NODEPORT_IPS, elements: added });
}
