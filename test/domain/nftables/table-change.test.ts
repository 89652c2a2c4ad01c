import fc from 'fast-check';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import type { ServicePortKey } from '../../../src/domain/model/service-port-name.js';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import { NftablesDesiredState } from '../../../src/domain/nftables/state/desired-state.js';
import { desiredTable, type DesiredTable } from '../../../src/domain/nftables/state/desired-table.js';
import {
  nodeTransaction,
  changeTransactions,
  removalsOf,
  Transaction,
} from '../../../src/domain/nftables/state/transaction.js';
import { TableChange } from '../../../src/domain/nftables/state/service-port-rules.js';
import type { Structure } from '../../../src/domain/nftables/layout/structure.js';
import type { Operation } from '../../../src/domain/nftables/layout/table.js';
import { MemoryNftTable } from '../../support/fakes/memory-nft-table.js';
import { follow, serviceChange } from '../../support/iptables/arbitraries.js';
import { contentsOf } from '../../support/nftables/table-contents.js';

describe.each(IP_FAMILIES)('a table that is changed (%s)', (family) => {
  const [first, second] = family === 'IPv4' ? ['192.0.2.1', '192.0.2.2'] : ['2001:db8::1', '2001:db8::2'];
  const nodeWith = (nodePortIPs: NodeNetwork['nodePortIPs']): NodeNetwork => ({
    ...{ family, detector: undefined, masqueradeBit: 14, masqueradeAll: false, serviceCIDRs: [] },
    nodePortIPs,
  });

  /** Fails where the kernel would refuse one of the operations, or the whole. */
  function write(table: MemoryNftTable, operations: readonly Operation[]): void {
    table.begin();
    for (const operation of operations)
      if (operation.op !== 'add-table' && operation.op !== 'delete-table') table.apply(operation);
    table.check();
  }

  function newTable({ chains, sets }: DesiredTable): MemoryNftTable {
    const table = new MemoryNftTable(family, '');
    const whole = new Transaction();
    for (const { chain } of chains) whole.add({ op: 'add-chain', chain });
    for (const { set } of sets) whole.add({ op: 'add-set', set });
    for (const chain of chains) whole.addRules(chain);
    for (const { set, elements } of sets) whole.add({ op: 'add-elements', set, elements });
    write(table, whole.operations);
    return table;
  }

  it('is in the end what it would be if it were made anew', () => {
    const nodes = ['all' as const, [first!], [second!], [first!, second!]].map(nodeWith);
    const step = fc.tuple(serviceChange(family, ['a', 'b', 'c']), fc.constantFrom(...nodes), fc.boolean());
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const desired = new NftablesDesiredState();
        const present = new Map<ServicePortKey, ForwardingEntry>();
        const unused = new Map<string, Structure>();
        let node = nodes[0]!;
        const table = newTable(desiredTable(desired, node));
        const remove = (): void => {
          const all = [...desired.structures(), ...unused.values()];
          for (const { operations } of removalsOf(unused, all, desired, node)) write(table, operations);
          unused.clear();
        };
        for (const [changed, next, removes] of steps) {
          const ofNode = new Transaction();
          // Rules of unused chains were written for the former node.
          if (next !== node) remove();
          nodeTransaction(node, next, desired, ofNode);
          node = next;
          const change = new TableChange();
          for (const { key, entry } of follow(changed, present))
            desired.replace(key, entry && compileNftables(entry), change);
          const written = changeTransactions(change, desired, node, unused);
          for (const { name } of change.newStructures) unused.delete(name);
          for (const structure of change.unusedStructures) unused.set(structure.name, structure);
          for (const { operations } of [ofNode, written.structures, written.elements, written.unused])
            write(table, operations);
          if (removes) remove();
        }
        remove();
        const anew = new NftablesDesiredState();
        for (const [key, entry] of present) anew.replace(key, compileNftables(entry));
        const { chains, sets } = contentsOf(desiredTable(anew, node));
        expect(table.chains).toEqual(chains);
        expect(table.sets).toEqual(sets);
      }),
      { numRuns: 10 },
    );
  });
});
