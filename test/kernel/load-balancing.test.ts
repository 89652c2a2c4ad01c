import { slotsOf } from '../../src/domain/balancing/slots.js';
import type { Balancing } from '../../src/domain/balancing/balancing.js';
import { sortedOnce, type Endpoint } from '../../src/domain/model/endpoint.js';
import { networkHalf, addressBytes } from '../../src/domain/nftables/kernel/bytes.js';
import { jenkinsHash, scaled } from '../../src/diagnostics/domain/nftables/draws.js';
import { HASH_SEED } from '../../src/domain/nftables/layout/traffic-class.js';
import { nightly } from '../support/nightly.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { clusterObjects, testConfig } from '../support/testbed/cluster-objects.js';
import { Testbed } from '../support/testbed/testbed.js';
import { FlowRecorder, type Choices, type Sources } from './load-balancing/flow-recorder.js';

/** Connections of each test of shares. */
const CONNECTIONS = nightly ? 100_000 : 6_000;
const SERVICE = '172.30.40.1';
const PORT = 80;
const ADDRESSES = ['198.18.0.101', '198.18.0.102', '198.18.0.103', '198.18.0.104'];
const SOURCES: Sources = { addresses: ADDRESSES, firstPort: 20_000, ports: CONNECTIONS / ADDRESSES.length };
const FEW: Sources = { addresses: ADDRESSES, firstPort: 20_000, ports: 250 };

const five = ['10.244.2.11', '10.244.2.12', '10.244.2.13', '10.244.2.14', '10.244.2.15'];

type Weights = Readonly<Record<string, number>>;

function objects(
  endpoints: readonly string[],
  method: string,
  weights: Weights = {},
  more: object = {},
): string {
  return clusterObjects([
    {
      name: 'balanced',
      clusterIP: SERVICE,
      ports: [{ name: 'ask', protocol: 'UDP', port: PORT, targetPort: 8080 }],
      annotations: {
        'kube-proxy-ts/load-balancing': method,
        ...(Object.keys(weights).length > 0 && { 'kube-proxy-ts/weight': JSON.stringify(weights) }),
      },
      endpoints,
      ...more,
    },
  ]);
}

/** The address of the endpoint that each source gets by the table. */
function byTable(endpoints: readonly string[], balancing: Balancing, weights: Weights = {}) {
  const list = sortedOnce(
    endpoints.map((address): Endpoint => {
      const state = { isLocal: false, ready: true, serving: true, terminating: false };
      return { address, port: 8080, ...state, zoneHints: [], nodeHints: [], weight: weights[address] ?? 1 };
    }),
  );
  const slots = slotsOf(list, balancing)!;
  return (source: string): string => {
    const [address, port] = source.split(':') as [string, string];
    const key =
      balancing.method === 'maglev'
        ? [...addressBytes(address), ...networkHalf(Number(port)), 0, 0]
        : [...addressBytes(address)];
    const slot = scaled(jenkinsHash(Uint8Array.from(key), HASH_SEED), slots.length);
    return list[slots[slot]!]!.address;
  };
}

function counts(choices: Choices, endpoints: readonly string[]): readonly number[] {
  const found = [...choices.values()];
  return endpoints.map((endpoint) => found.filter((each) => each === endpoint).length);
}

/** Pearson's chi-squared of these counts, if each endpoint's share is by its weight. */
function chiSquared(observed: readonly number[], weights: readonly number[]): number {
  const all = observed.reduce((sum, count) => sum + count, 0);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return observed.reduce((sum, count, place) => {
    const expected = (all * weights[place]!) / total;
    return sum + (count - expected) ** 2 / expected;
  }, 0);
}

/** Exceeded once in a million times with four degrees of freedom, and less often with fewer. */
const ONCE_IN_A_MILLION = 33.4;

describe('the choice of endpoints, by packets', () => {
  let testbed: Testbed;
  let recorder: FlowRecorder;
  let proxy: ProxyProcess;

  const start = (text: string) =>
    ProxyProcess.start({ host: testbed.node, config: testConfig, objects: text });

  beforeAll(async () => {
    testbed = await Testbed.open();
    const addresses = ADDRESSES.map((address) => `addr add ${address}/24 dev eth0`);
    await testbed.ext.run(['ip', '-batch', '-'], addresses.join('\n'));
    recorder = await FlowRecorder.install(testbed);
    proxy = await start(objects(five, 'maglev'));
  });
  afterAll(async () => {
    await proxy?.remove();
    await testbed?.close();
  });

  const choices = (sources = SOURCES): Promise<Choices> => recorder.choices(SERVICE, PORT, sources);

  it('by maglev is the one of the table and of jhash, in equal shares', async () => {
    const chosen = await choices();
    expect(chosen.size).toBe(CONNECTIONS);
    const expected = byTable(five, { method: 'maglev', isWeighted: false });
    for (const [source, endpoint] of chosen) expect([source, endpoint]).toEqual([source, expected(source)]);
    expect(chiSquared(counts(chosen, five), [1, 1, 1, 1, 1])).toBeLessThan(ONCE_IN_A_MILLION);
  });

  it('by maglev moves hardly more connections than those of the endpoint that goes, and back when it comes', async () => {
    const before = await choices();
    const gone = five[2]!;
    await proxy.change(
      objects(
        five.filter((each) => each !== gone),
        'maglev',
      ),
    );
    const without = await choices();
    const all = [...before];
    expect(all.filter(([source]) => without.get(source) === undefined)).toEqual([]);
    const moved = all.filter(([source, endpoint]) => endpoint !== gone && without.get(source) !== endpoint);
    // The paper's figure 12: hardly any beside the share of what is gone.
    expect(moved.length / all.length).toBeLessThan(0.015);
    await proxy.change(objects(five, 'maglev'));
    expect(await choices()).toEqual(before);
  });

  it('is the same on another node', async () => {
    const other = await Testbed.open();
    try {
      const addresses = ADDRESSES.map((address) => `addr add ${address}/24 dev eth0`);
      await other.ext.run(['ip', '-batch', '-'], addresses.join('\n'));
      const elsewhere = objects(five.toReversed(), 'maglev').replaceAll('nodeName: node1', 'nodeName: node2');
      const second = await ProxyProcess.start({ host: other.node, config: testConfig, objects: elsewhere });
      try {
        const there = await (await FlowRecorder.install(other)).choices(SERVICE, PORT, FEW);
        expect(there.size).toBe(FEW.ports * ADDRESSES.length);
        expect(there).toEqual(await choices(FEW));
      } finally {
        await second.remove();
      }
    } finally {
      await other.close();
    }
  });

  it('by maglev-source is one for all ports of a client', async () => {
    await proxy.change(objects(five, 'maglev-source'));
    const chosen = await choices(FEW);
    const expected = byTable(five, { method: 'maglev-source', isWeighted: false });
    for (const [source, endpoint] of chosen) expect(endpoint).toBe(expected(source));
    expect(new Set(chosen.values()).size).toBeLessThanOrEqual(ADDRESSES.length);
  });

  it('follows weights, whatever the method, and gives one of weight 0 nothing', async () => {
    const [a, b, c, d, e] = five as [string, string, string, string, string];
    const weights = { [a]: 1, [b]: 2, [c]: 3, [d]: 4, [e]: 0 };
    for (const method of ['random', 'maglev']) {
      await proxy.change(objects(five, method, weights));
      const found = counts(await choices(), five);
      expect(found[4]).toBe(0);
      expect(chiSquared(found.slice(0, 4), [1, 2, 3, 4])).toBeLessThan(ONCE_IN_A_MILLION);
    }
  });

  it('by round-robin is one after another, by weight', async () => {
    await proxy.change(objects(five.slice(0, 2), 'round-robin', { [five[0]!]: 3 }));
    const found = counts(await choices(FEW), five);
    const [first, second] = found as [number, number];
    expect(first + second).toBe(FEW.ports * ADDRESSES.length);
    expect(Math.abs(first - 3 * second)).toBeLessThanOrEqual(4);
  });

  it('with session affinity is by the table once, and stays', async () => {
    await proxy.change(objects(five, 'maglev-source', {}, { affinitySeconds: 600 }));
    const before = await choices(FEW);
    const expected = byTable(five, { method: 'maglev-source', isWeighted: false });
    for (const [source, endpoint] of before) expect(endpoint).toBe(expected(source));
    const more = [...five, '10.244.2.16', '10.244.2.17', '10.244.2.18'];
    await proxy.change(objects(more, 'maglev-source', {}, { affinitySeconds: 600 }));
    expect(await choices(FEW)).toEqual(before);
  });

  it('loses no packet while endpoints, weights and methods change', async () => {
    const states = [
      objects(five, 'maglev'),
      objects(five.slice(1), 'maglev'),
      objects(five, 'random', { [five[0]!]: 7 }),
      objects(five.slice(0, 1), 'maglev'),
      objects(five, 'round-robin'),
      objects(five.slice(0, 3), 'maglev', { [five[1]!]: 1000 }),
    ];
    let isOver = false;
    const changes = (async () => {
      for (const state of [...states, ...states]) await proxy.change(state);
    })().finally(() => (isOver = true));
    let rounds = 0;
    do {
      const chosen = await choices(FEW);
      expect(chosen.size).toBe(FEW.ports * ADDRESSES.length);
      rounds++;
    } while (!isOver);
    await changes;
    expect(rounds).toBeGreaterThan(0);
  });
});
