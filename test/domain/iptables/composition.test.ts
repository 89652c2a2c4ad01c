import fc from 'fast-check';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import { compileIptables } from '../../../src/domain/iptables/compile.js';
import { IptablesComposition } from '../../../src/domain/iptables/composition.js';
import { IptablesDelta } from '../../../src/domain/iptables/delta.js';
import { frameDelta } from '../../../src/domain/iptables/frame-delta.js';
import { iptablesFrame } from '../../../src/domain/iptables/frame.js';
import type { IptablesFragment } from '../../../src/domain/iptables/table.js';
import { IptablesImage, sharedHolds } from '../../../src/domain/iptables/image.js';
import { parseCidr } from '../../../src/domain/net/cidr.js';
import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';
import { follow, inTwoOrders, serviceChange } from '../../support/iptables/arbitraries.js';
import { RECORDED_HOST } from '../../support/recorded/cluster.js';
import { allChains, isHeld, sharedChain, TablesInMemory } from '../../support/iptables/tables-in-memory.js';

const NAMES = ['a', 'b', 'c'];

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

const compiled = (entry: ForwardingEntry, former?: IptablesFragment) =>
  compileIptables(entry, { node: nodeOf(entry.family), host: RECORDED_HOST, largeCluster: false }, former);

function freshImage(entries: Iterable<ForwardingEntry>, family: IpFamily): IptablesImage {
  const composition = new IptablesComposition();
  for (const entry of entries) composition.replace(entry.key, compiled(entry));
  return new IptablesImage(composition, iptablesFrame(nodeOf(family), RECORDED_HOST));
}

function expectHeld(tables: TablesInMemory, image: IptablesImage): void {
  const chains = allChains(image);
  const ids = chains.map(({ table, name }) => `${table} ${name}`);
  expect([...tables.chains.keys()].sort()).toEqual(ids.sort());
  for (const chain of chains) {
    const actual = tables.chains.get(`${chain.table} ${chain.name}`)!;
    if (!isHeld(chain, actual)) expect(actual).toEqual(chain.rules);
  }
}

/** Chains with their rules made, in an order of their own. */
function contents(image: IptablesImage): readonly string[] {
  return allChains(image)
    .map(({ table, name, rules }) => [table, name, ...rules].join('\n'))
    .sort();
}

describe('incremental equals full', () => {
  it.each(IP_FAMILIES)('after any sequence of batches of changes, in %s', (family) => {
    const batches = fc.array(fc.array(serviceChange(family, NAMES), { maxLength: 3 }), { maxLength: 6 });
    fc.assert(
      fc.property(batches, (sequence) => {
        const composition = new IptablesComposition();
        const tables = new TablesInMemory(freshImage([], family));
        const present = new Map<string, ForwardingEntry>();
        for (const batch of sequence) {
          const delta = new IptablesDelta();
          for (const change of batch)
            for (const { key, entry } of follow(change, present))
              composition.replace(key, entry && compiled(entry, composition.fragment(key)), delta);
          tables.apply(delta);
          expectHeld(tables, freshImage(present.values(), family));
        }
        const again = new IptablesDelta();
        for (const entry of present.values()) composition.replace(entry.key, compiled(entry), again);
        expect([[...again.written()], again.removed, again.entriesRemoved, again.entriesAdded]).toEqual([
          [],
          [],
          [],
          [],
        ]);
      }),
      { numRuns: 150 },
    );
  });

  it.each(IP_FAMILIES)('whatever order service ports come in, in %s', (family) => {
    fc.assert(
      fc.property(inTwoOrders(family, NAMES), ({ entries, shuffled }) => {
        const [one, other] = [freshImage(shuffled, family), freshImage(entries, family)];
        expect(contents(one)).toEqual(contents(other));
      }),
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
    const frames = [before, after].map((node) => iptablesFrame(node, RECORDED_HOST)) as [never, never];
    const empty = new IptablesComposition();
    const tables = new TablesInMemory(new IptablesImage(empty, frames[0]));
    tables.applyFrame(frameDelta(...frames));
    // What was in KUBE-FIREWALL stays: the kubelet uses it too.
    tables.chains.delete('filter KUBE-FIREWALL');
    expectHeld(tables, new IptablesImage(empty, frames[1]));
    expect(frameDelta(frames[1], frames[1])).toEqual({ chains: [], tails: [] });
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
    flowKeepers: [],
    localEndpoints: [],
    knownEndpoints: 0,
  });

  it('keeps the rules of both, the first by name first, and says so', () => {
    const composition = new IptablesComposition();
    const tables = new TablesInMemory(freshImage([], 'IPv4'));
    for (const name of ['b', 'a', 'c']) {
      const delta = new IptablesDelta();
      composition.replace(entryOf(name).key, compiled(entryOf(name)), delta);
      tables.apply(delta);
    }
    const services = tables.chains.get('filter KUBE-SERVICES')!;
    expect(services.map((rule) => /default\/(.)/.exec(rule)![1])).toEqual(['a', 'b', 'c']);
    const frontend = '10.0.0.1:80/TCP';
    const [holder, ...losers] = ['a', 'b', 'c'].map((name) => entryOf(name).key) as [string, ...string[]];
    for (const key of [holder, ...losers])
      expect(composition.conflictsOf(key)).toEqual(losers.map((loser) => ({ frontend, holder, loser })));
  });

  it('does not hold when the rules stand the other way round', () => {
    const image = freshImage(['a', 'b'].map(entryOf), 'IPv4');
    const chain = sharedChain(image, 'filter', 'KUBE-SERVICES');
    expect(sharedHolds(chain, chain.rules)).toBe(true);
    expect(sharedHolds(chain, [...chain.rules].reverse())).toBe(false);
  });

  it('holds in any order where they claim nothing together', () => {
    const other = { ...entryOf('b'), frontends: [{ ...entryOf('b').frontends[0]!, address: '10.0.0.2' }] };
    const image = freshImage([entryOf('a'), other], 'IPv4');
    const chain = sharedChain(image, 'filter', 'KUBE-SERVICES');
    expect(sharedHolds(chain, [...chain.rules].reverse())).toBe(true);
    expect(sharedHolds(chain, [...chain.rules, chain.rules[0]!])).toBe(false);
    expect(sharedHolds(chain, [chain.rules[0]!, chain.rules[0]!])).toBe(false);
  });

  it('holds only when the dispatch to node ports stands last', () => {
    const image = freshImage([{ ...entryOf('a'), ...withEndpoint() }], 'IPv4');
    const chain = sharedChain(image, 'nat', 'KUBE-SERVICES');
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
