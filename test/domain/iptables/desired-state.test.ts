import fc from 'fast-check';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import { compileIptables } from '../../../src/domain/iptables/compile.js';
import {
  IptablesDesiredState,
  DesiredTables,
  sharedHolds,
} from '../../../src/domain/iptables/desired-state.js';
import { IptablesChange, baseRulesChange } from '../../../src/domain/iptables/iptables-change.js';
import { iptablesBaseRules } from '../../../src/domain/iptables/base-rules.js';
import type { IptablesServicePortRules, TableName } from '../../../src/domain/iptables/table.js';
import { parseCidr } from '../../../src/domain/net/cidr.js';
import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';
import { unexplainedOwner } from '../../../src/domain/reconcile/claims.js';
import { follow, inTwoOrders, serviceChange } from '../../support/iptables/arbitraries.js';
import { RECORDED_HOST } from '../../support/recorded/cluster.js';
import { allChains, isHeld, sharedChain, TablesInMemory } from '../../support/iptables/tables-in-memory.js';

const NAMES = ['a', 'b', 'c'];
const TABLES: readonly TableName[] = ['mangle', 'filter', 'nat'];

function nodeOf(family: IpFamily): NodeNetwork {
  return {
    family,
    detector: { kind: 'cidr', cidr: parseCidr(family === 'IPv4' ? '10.244.0.0/16' : 'fd00:10::/56')! },
    masqueradeBit: 14,
    masqueradeAll: false,
    nodePortIPs: 'all',
    localhostNodePorts: family === 'IPv4',
    serviceCIDRs: [],
  };
}

const compiled = (entry: ForwardingEntry) =>
  compileIptables(entry, { node: nodeOf(entry.family), host: RECORDED_HOST, largeCluster: false });

function freshTables(entries: Iterable<ForwardingEntry>, family: IpFamily): DesiredTables {
  const desired = new IptablesDesiredState();
  for (const entry of entries) desired.replace(entry.key, compiled(entry));
  return new DesiredTables(desired, iptablesBaseRules(nodeOf(family), RECORDED_HOST));
}

function expectHeld(tables: TablesInMemory, desired: DesiredTables): void {
  const chains = allChains(desired);
  const ids = chains.map(({ table, name }) => `${table} ${name}`);
  expect([...tables.chains.keys()].sort()).toEqual(ids.sort());
  for (const chain of chains) {
    const actual = tables.chains.get(`${chain.table} ${chain.name}`)!;
    if (!isHeld(chain, actual)) expect(actual).toEqual(chain.rules);
  }
}

/** As iptables-legacy counts. */
function entryCount({ chains }: TablesInMemory): number {
  return [...chains.values()].reduce((sum, rules) => sum + 2 + rules.length, 0);
}

/** How many rules service ports have in each table, counted one by one. */
function countedRules(desired: IptablesDesiredState): readonly number[] {
  const chains = [...desired.chains()].map(({ chain }) => chain);
  return TABLES.map((table) => {
    const own = chains.flatMap((chain) => (chain.table === table ? chain.rules : []));
    return own.length + desired.entries(table).length;
  });
}

/** Chains with their rules, sorted. */
function contents(tables: DesiredTables): readonly string[] {
  return allChains(tables)
    .map(({ table, name, rules }) => [table, name, ...rules].join('\n'))
    .sort();
}

describe('incremental equals full', () => {
  it.each(IP_FAMILIES)('after any sequence of batches of changes, in %s', (family) => {
    const batches = fc.array(fc.array(serviceChange(family, NAMES), { maxLength: 3 }), { maxLength: 6 });
    fc.assert(
      fc.property(batches, (sequence) => {
        const desired = new IptablesDesiredState();
        const tables = new TablesInMemory(freshTables([], family));
        const present = new Map<string, ForwardingEntry>();
        for (const batch of sequence) {
          const delta = new IptablesChange();
          for (const change of batch)
            for (const { key, entry } of follow(change, present))
              desired.replace(key, entry && compiled(entry), delta);
          const before = entryCount(tables);
          tables.apply(delta);
          expect(delta.tableGrowth).toBe(entryCount(tables) - before);
          expectHeld(tables, freshTables(present.values(), family));
          expect(TABLES.map((table) => desired.ruleCount(table))).toEqual(countedRules(desired));
        }
        const again = new IptablesChange();
        for (const entry of present.values()) desired.replace(entry.key, compiled(entry), again);
        expect(again.chains()).toEqual({ written: [], removed: [] });
        expect([again.entriesRemoved, again.entriesAdded, again.tableGrowth]).toEqual([[], [], 0]);
      }),
      { numRuns: 30 },
    );
  });

  it.each(IP_FAMILIES)('whatever order service ports come in, in %s', (family) => {
    fc.assert(
      fc.property(inTwoOrders(family, NAMES), ({ entries, shuffled }) => {
        const [one, other] = [freshTables(shuffled, family), freshTables(entries, family)];
        expect(contents(one)).toEqual(contents(other));
      }),
      { numRuns: 40 },
    );
  });

  it('follows the addresses of the node', () => {
    const before = nodeOf('IPv4');
    const after = {
      ...before,
      nodePortIPs: ['10.0.0.1', '10.0.0.2'],
      masqueradeBit: 10,
      localhostNodePorts: false,
    };
    const frames = [before, after].map((node) => iptablesBaseRules(node, RECORDED_HOST)) as [never, never];
    const empty = new IptablesDesiredState();
    const tables = new TablesInMemory(new DesiredTables(empty, frames[0]));
    tables.applyBaseRules(baseRulesChange(...frames));
    // What was in KUBE-FIREWALL stays: the kubelet uses it too.
    tables.chains.delete('filter KUBE-FIREWALL');
    expectHeld(tables, new DesiredTables(empty, frames[1]));
    expect(baseRulesChange(frames[1], frames[1])).toEqual({ chains: [], tails: [] });
  });
});

describe('a frontend that two services claim', () => {
  const entryOf = (name: string): ForwardingEntry => ({
    key: `default/${name}/tcp/`,
    name: { namespace: 'default', name, port: '', protocol: 'TCP' },
    family: 'IPv4',
    frontends: [{ kind: 'cluster-ip', address: '10.0.0.1', port: 80, policy: 'Cluster', outcome: 'reject' }],
    endpoints: { cluster: [], local: undefined, reachable: [], hasAny: false },
    internalPolicyLocal: false,
    externalPolicyLocal: false,
    affinitySeconds: 0,
    sourceRanges: [],
    sourceRangesCoverNode: false,
    healthCheckNodePort: 0,
    externallyReachable: false,
    flowEligibleEndpoints: [],
    localEndpoints: [],
    knownEndpoints: 0,
  });

  it('keeps the rules of both, the first by name first', () => {
    const desired = new IptablesDesiredState();
    const tables = new TablesInMemory(freshTables([], 'IPv4'));
    for (const name of ['b', 'a', 'c']) {
      const delta = new IptablesChange();
      desired.replace(entryOf(name).key, compiled(entryOf(name)), delta);
      tables.apply(delta);
    }
    const services = tables.chains.get('filter KUBE-SERVICES')!;
    expect(services.map((rule) => /default\/(.)/.exec(rule)![1])).toEqual(['a', 'b', 'c']);
  });

  it('belongs to a Service, and no more to rules that nothing explained', () => {
    const desired = new IptablesDesiredState();
    desired.replace(unexplainedOwner('shop/gone'), {
      chains: [],
      entries: compiled(entryOf('gone')).entries,
    });
    desired.replace(entryOf('a').key, compiled(entryOf('a')));
    expect(desired.entries('filter').map(({ owner }) => owner)).toEqual([entryOf('a').key]);
  });

  it('takes over chains that nothing explained, and writes only those that differ', () => {
    const entry = { ...entryOf('a'), ...withEndpoint() };
    const [same, other] = [compiled(entry), compiled({ ...entry, affinitySeconds: 60 })];
    const { chains, entries } = same;
    const left = { chains: chains.map(({ table, name, rules }) => ({ table, name, rules })), entries };
    const written = (rules: IptablesServicePortRules) => {
      const desired = new IptablesDesiredState();
      desired.replace(unexplainedOwner('default/a'), left);
      const delta = new IptablesChange();
      desired.replace(unexplainedOwner('default/a'), undefined, delta);
      desired.replace(entry.key, rules, delta);
      expect(delta.chains().removed).toEqual([]);
      return delta.chains().written.map(({ chain }) => chain.name);
    };
    expect(written(same)).toEqual([]);
    expect(written(other)).toEqual(chains.map(({ name }) => name));
  });

  it('does not hold when the rules stand the other way round', () => {
    const tables = freshTables(['a', 'b'].map(entryOf), 'IPv4');
    const chain = sharedChain(tables, 'filter', 'KUBE-SERVICES');
    expect(sharedHolds(chain, chain.rules)).toBe(true);
    expect(sharedHolds(chain, [...chain.rules].reverse())).toBe(false);
  });

  it('holds in any order where they claim nothing together', () => {
    const other = { ...entryOf('b'), frontends: [{ ...entryOf('b').frontends[0]!, address: '10.0.0.2' }] };
    const tables = freshTables([entryOf('a'), other], 'IPv4');
    const chain = sharedChain(tables, 'filter', 'KUBE-SERVICES');
    expect(sharedHolds(chain, [...chain.rules].reverse())).toBe(true);
    expect(sharedHolds(chain, [...chain.rules, chain.rules[0]!])).toBe(false);
    expect(sharedHolds(chain, [chain.rules[0]!, chain.rules[0]!])).toBe(false);
  });

  it('holds only when the dispatch to node ports stands last', () => {
    const tables = freshTables([{ ...entryOf('a'), ...withEndpoint() }], 'IPv4');
    const chain = sharedChain(tables, 'nat', 'KUBE-SERVICES');
    expect(chain.rules).toHaveLength(2);
    expect(sharedHolds(chain, [...chain.rules].reverse())).toBe(false);
  });

  function withEndpoint(): Pick<ForwardingEntry, 'endpoints' | 'frontends'> {
    const endpoint = {
      address: '10.1.0.1',
      port: 8080,
      text: '10.1.0.1:8080',
      isLocal: true,
      ready: true,
      serving: true,
      terminating: false,
      zoneHints: [],
      nodeHints: [],
    };
    return {
      endpoints: { cluster: [endpoint], local: undefined, reachable: [endpoint], hasAny: true },
      frontends: [{ ...entryOf('a').frontends[0]!, outcome: 'forward' }],
    };
  }
});

describe('a rule that two service ports keep after a refusal', () => {
  const kept: IptablesServicePortRules = {
    chains: [],
    entries: [
      {
        table: 'filter',
        chain: 'KUBE-SERVICES',
        rule: '-d 10.0.0.1/32 -j REJECT',
        frontend: '10.0.0.1:53/TCP',
      },
    ],
  };
  const first = 'default/a/tcp/';
  const second = 'default/a/tcp/dns';

  it('is there once', () => {
    const desired = new IptablesDesiredState();
    for (const owner of [first, second]) desired.replace(owner, kept);
    expect(desired.entries('filter')).toEqual([{ owner: first, entry: kept.entries[0] }]);
  });

  it.each([
    [first, second],
    [second, first],
  ])('goes with the last of them', (one, other) => {
    const desired = new IptablesDesiredState();
    for (const owner of [first, second]) desired.replace(owner, kept);
    const change = new IptablesChange();
    desired.replace(one, undefined, change);
    expect([change.entriesRemoved, change.entriesAdded]).toEqual([[], []]);
    desired.replace(other, undefined, change);
    expect(change.entriesRemoved.map(({ entry }) => entry)).toEqual(kept.entries);
  });

  it('is there for each of its entries where one service port has several', () => {
    const desired = new IptablesDesiredState();
    desired.replace(first, { ...kept, entries: [...kept.entries, ...kept.entries] });
    expect(desired.entries('filter')).toHaveLength(2);
  });
});
