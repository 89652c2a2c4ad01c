import { slotCount, slotShares, slotsOf } from '../../../src/domain/balancing/slots.js';
import type { BalancingMethod } from '../../../src/domain/balancing/balancing.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import { SLOTS } from '../../../src/domain/nftables/layout/sets.js';
import { NftablesDesiredState } from '../../../src/domain/nftables/state/desired-state.js';
import { desiredTable } from '../../../src/domain/nftables/state/desired-table.js';
import { TableChange } from '../../../src/domain/nftables/state/service-port-rules.js';
import { changeTransactions } from '../../../src/domain/nftables/state/transaction.js';
import type { Packet } from '../../../src/diagnostics/domain/trace/trace.js';
import { sampleEntry, sampleNode, type SampleShape } from '../../../src/testing/contract/sample-services.js';
import { sampleOf } from '../../support/nightly.js';
import { contentsOf } from '../../support/nftables/table-contents.js';
import { WalkedTable } from '../../support/nftables/walked-table.js';

const families = sampleOf(IP_FAMILIES);

const slotKeys = (desired: NftablesDesiredState): readonly string[] => {
  const keys: string[] = [];
  desired.forEachElement(({ set, key }) => set === SLOTS && keys.push(key));
  return keys;
};

describe.each(families)('frontends whose endpoints are not chosen with equal chances, %s', (family) => {
  const entryOf = (shape: Partial<SampleShape>): ForwardingEntry =>
    sampleEntry(family, 'web', { number: 1, ...shape });

  /** What becomes of packets of a client. */
  function walker(entry: ForwardingEntry) {
    const desired = new NftablesDesiredState();
    desired.replace(entry.key, compileNftables(entry));
    const table = new WalkedTable(family, contentsOf(desiredTable(desired, sampleNode(family))));
    return (client = 77) => {
      const packet: Packet = {
        ...{ family, protocol: 'TCP', inputInterface: 'eth0', destinationPort: 80 },
        destination: entry.frontends[0]!.address!,
        source: family === 'IPv4' ? `203.0.113.${client}` : `2001:db8:e::${client}`,
      };
      return table.walk(packet, { localAddresses: new Set() });
    };
  }

  /** The probability of each endpoint of the policy Cluster. */
  const probabilities = (entry: ForwardingEntry): readonly number[] => {
    const endings = walker(entry)();
    return entry.endpoints.cluster!.map(({ address }) =>
      endings
        .filter(({ endpoint }) => endpoint?.address === address)
        .reduce((sum, { probability }) => sum + probability, 0),
    );
  };

  it.each<[BalancingMethod, readonly number[]]>([
    ['random', [1, 2, 5]],
    ['round-robin', [1, 2, 5]],
    ['random', [999, 500, 300]],
    ['maglev', [1, 1, 1]],
    ['maglev', [1, 2, 5]],
    ['least-connections', [1, 2, 5]],
    ['least-connections', [1, 1, 1]],
  ])('have by %s and weights %j the probabilities of their slots, exactly', (balancingMethod, weights) => {
    const entry = entryOf({ balancingMethod, weights });
    const shares = slotShares(entry.endpoints.cluster!, entry.balancing!);
    expect(shares.reduce((sum, { slots }) => sum + slots, 0)).toBe(shares[0]!.totalSlots);
    probabilities(entry).forEach((probability, place) => {
      const { slots, totalSlots } = shares[place]!;
      expect(probability).toBeCloseTo(slots / totalSlots, 9);
    });
  });

  it('lead a client address to one endpoint by maglev-source, and all clients to all', () => {
    const entry = entryOf({ balancingMethod: 'maglev-source', endpoints: 5 });
    const walk = walker(entry);
    const met = new Set<string>();
    for (let client = 0; client < 100; client++) {
      const endings = walk(client);
      expect(endings).toHaveLength(1);
      expect(endings[0]).toMatchObject({ verdict: 'forward', probability: 1 });
      met.add(endings[0]!.endpoint!.address);
    }
    expect(met.size).toBe(5);
  });

  it.each<[BalancingMethod]>([['maglev'], ['round-robin'], ['random']])(
    'with session affinity send every packet, and remember where: %s',
    (balancingMethod) => {
      const entry = entryOf({ balancingMethod, weights: [1, 1, 2], affinitySeconds: 60 });
      const endings = walker(entry)();
      for (const ending of endings) expect(ending).toMatchObject({ verdict: 'forward', sticky: true });
      expect(endings.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1, 9);
    },
  );

  it('without another one need no table', () => {
    const plain = compileNftables(entryOf({ endpoints: 1 }))[0]!;
    const hashed = compileNftables(entryOf({ endpoints: 1, balancingMethod: 'maglev', weights: [7] }))[0]!;
    expect(hashed.elements.map(({ key, value }) => [key, value])).toEqual(
      plain.elements.map(({ key, value }) => [key, value]),
    );
  });

  it('write the slots that change when an endpoint comes, and no others', () => {
    const desired = new NftablesDesiredState();
    const before = entryOf({ balancingMethod: 'maglev', endpoints: 5 });
    desired.replace(before.key, compileNftables(before));
    const change = new TableChange();
    const after = entryOf({ balancingMethod: 'maglev', endpoints: 6 });
    desired.replace(after.key, compileNftables(after), change);
    const node = sampleNode(family);
    const { structures, elements, unused } = changeTransactions(change, desired, node, new Map());
    expect(structures.operations).toEqual([]);
    expect(unused.operations).toEqual([]);
    const keys = (op: string) =>
      elements.operations.flatMap((each) =>
        each.op === op && 'elements' in each && each.set === SLOTS ? each.elements.map(({ key }) => key) : [],
      );
    // A sixth of the slots, and hardly more.
    const share = keys('add-elements').length / slotsOf(after.endpoints.cluster!, after.balancing!)!.length;
    expect(share).toBeGreaterThan(1 / 6 - 0.001);
    expect(share).toBeLessThan(1 / 6 + 0.02);
    // A slot has its new endpoint in the transaction in which it loses the former one.
    expect(keys('add-elements')).toEqual(keys('delete-elements'));
  });

  it('share a table: all frontends of a service port, and ports with the same list', () => {
    const desired = new NftablesDesiredState();
    const entry = entryOf({
      ...{
        balancingMethod: 'maglev',
        endpoints: 30,
        nodePort: 30_080,
        external: true,
        externalPolicyLocal: true,
      },
    });
    const tables = { cluster: entry.key, local: entry.key };
    const other = { ...entry, key: `${entry.key}2`, name: { ...entry.name, port: 'two' } };
    const frontends = entry.frontends.map((frontend) => ({ ...frontend, port: frontend.port + 1 }));
    desired.replace(entry.key, compileNftables(entry));
    const count = () => slotKeys(desired).length;
    const own = count();
    expect(own).toBe(4093 + (slotCount(entry.endpoints.local!, entry.balancing!) ?? 0));
    const sharing = { ...other, frontends, balancing: { ...entry.balancing!, tables } };
    desired.replace(other.key, compileNftables(sharing));
    expect(count()).toBe(own);
    // The other one goes on with the table.
    desired.replace(entry.key, undefined);
    expect(count()).toBe(own);
    desired.replace(other.key, undefined);
    expect(count()).toBe(0);
  });
});
