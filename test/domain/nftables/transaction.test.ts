import {
  BY_ADDRESS,
  CLUSTER_IPS,
  RESTRICTED_FRONTENDS,
  sourcesSet,
} from '../../../src/domain/nftables/layout/sets.js';
import { nodeChains } from '../../../src/domain/nftables/layout/node-rules.js';
import { sourcesStructure, structuresOfClass } from '../../../src/domain/nftables/layout/structure.js';
import type { Operation } from '../../../src/domain/nftables/layout/table.js';
import { NftablesDesiredState } from '../../../src/domain/nftables/state/desired-state.js';
import { TableChange } from '../../../src/domain/nftables/state/service-port-rules.js';
import { changeTransactions, removalsOf } from '../../../src/domain/nftables/state/transaction.js';
import { sampleNode } from '../../../src/testing/contract/sample-services.js';

const node = sampleNode('IPv4', { detector: undefined, nodePortIPs: 'all' });
const external = { variant: BY_ADDRESS, kind: 'external', count: 2, affinitySeconds: 600 } as const;
const chains = structuresOfClass(external);
const nothing = new NftablesDesiredState();
const [few, many] = [sourcesStructure(24), sourcesStructure(8)];

/** The firewall's chain, emptied and with these rules. */
function firewallWith(...lengths: readonly number[]): readonly Operation[] {
  const chain = 'firewall-check';
  const shape = { sourceLengths: lengths, keepsKubeProxyRules: false };
  const { rules } = nodeChains(node, shape).find((each) => each.chain.name === chain)!;
  return [{ op: 'flush-chain', chain }, ...rules.map((rule): Operation => ({ op: 'add-rule', chain, rule }))];
}

describe('structures that nothing uses any more', () => {
  const unused = new Map([...chains, few].map((structure) => [structure.name, structure]));
  const [emptying, deletion] = removalsOf(unused, [...chains, few, many], nothing, node).map(
    ({ operations }) => operations,
  );

  it('lead nowhere before any of them is deleted', () => {
    const names = chains.map(({ name }) => name);
    expect(names).toHaveLength(3);
    for (const chain of names) {
      expect(emptying).toContainEqual({ op: 'flush-chain', chain });
      expect(deletion).toContainEqual({ op: 'delete-chain', chain });
    }
    expect(deletion).toHaveLength(names.length + 1);
  });

  it('are no part of the firewall before their set is deleted', () => {
    expect(emptying!.slice(0, firewallWith(8).length)).toEqual(firewallWith(8));
    expect(deletion).toContainEqual(expect.objectContaining({ op: 'delete-set' }));
  });

  it('leave the firewall alone unless a set of sources is among them', () => {
    const withoutSets = new Map(chains.map((structure) => [structure.name, structure]));
    const [first] = removalsOf(withoutSets, [...chains, few], nothing, node);
    expect(first!.operations).not.toContainEqual({ op: 'flush-chain', chain: 'firewall-check' });
  });
});

it('a new set of sources gets its place in the firewall, before what drops the others', () => {
  const desired = new NftablesDesiredState();
  const part = { key: '', frontend: '', elements: [], listed: [], uses: [few] };
  const change = new TableChange();
  desired.replace('default/a/tcp/http', [part], change);
  const { structures } = changeTransactions(change, desired, node, new Map([[many.name, many]]));
  expect(structures.operations.slice(1)).toEqual(firewallWith(8, 24));
});

it('elements have the service port that holds them in the end, and count one by one', () => {
  const change = new TableChange();
  change.add(CLUSTER_IPS, { key: '10.96.0.1' }, 'default/a/tcp/http');
  change.add(CLUSTER_IPS, { key: '10.96.0.1' }, 'default/b/tcp/http');
  change.add(CLUSTER_IPS, { key: '10.96.0.2' }, 'default/c/tcp/http');
  const { elements } = changeTransactions(change, new NftablesDesiredState(), node, new Map());
  expect([...elements.servicePorts()]).toEqual(['default/b/tcp/http', 'default/c/tcp/http']);
  expect([elements.owner(0, 0), elements.owner(0, 1)]).toEqual(['default/b/tcp/http', 'default/c/tcp/http']);
  expect(elements.steps).toBe(2);
});

describe('sources of a frontend', () => {
  const frontend = { key: '203.0.113.1 . tcp . 80' };
  const source = { key: `${frontend.key} . 198.51.100.0` };
  const [former, next] = ['default/a/tcp/http', 'default/b/tcp/http'] as const;
  const deletion = { op: 'delete-elements', set: sourcesSet(24), elements: [source] };

  it('are deleted together with its passing to another Service, so that they never count for that one', () => {
    const change = new TableChange();
    change.remove(RESTRICTED_FRONTENDS, frontend, former);
    change.remove(sourcesSet(24), source, former);
    change.add(RESTRICTED_FRONTENDS, frontend, next);
    const { elements, unused } = changeTransactions(change, nothing, node, new Map());
    expect(elements.operations).toContainEqual(deletion);
    expect(unused.operations).toEqual([]);
  });

  it('are deleted together with other changes of its ranges', () => {
    const change = new TableChange();
    change.remove(sourcesSet(24), source, former);
    expect(changeTransactions(change, nothing, node, new Map()).elements.operations).toEqual([deletion]);
  });

  it('stay until no packet meets them, if the frontend is restricted no more', () => {
    const change = new TableChange();
    change.remove(RESTRICTED_FRONTENDS, frontend, former);
    change.remove(sourcesSet(24), source, former);
    const { elements, unused } = changeTransactions(change, nothing, node, new Map());
    expect(elements.operations).not.toContainEqual(deletion);
    expect(unused.operations).toEqual([deletion]);
  });
});
