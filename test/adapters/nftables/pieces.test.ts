import { MemoryNftTransport } from '../../support/fakes/memory-nft-transport.js';
import { tableRepair } from '../../../src/adapters/nftables/table-difference.js';
import { firstFill } from '../../../src/adapters/nftables/first-fill.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import { ForwardingTable } from '../../../src/domain/forwarding/forwarding-table.js';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import { NftablesDesiredState } from '../../../src/domain/nftables/state/desired-state.js';
import { outcomeOf } from '../../support/trace/outcome.js';
import type { Packet } from '../../../src/diagnostics/domain/trace/trace.js';
import { desiredTable } from '../../../src/domain/nftables/state/desired-table.js';
import type { TableContents } from '../../support/nftables/table-contents.js';
import { LOCAL_ADDRESSES, NODE, POOL, SETTINGS } from '../../support/nftables/cluster-arbitraries.js';
import { WalkedTable } from '../../support/nftables/walked-table.js';
import { InMemoryProxy } from '../../support/nftables/in-memory-proxy.js';

function* packets(): Iterable<Packet> {
  const destinations = [
    ...POOL.clusterIPs.IPv4,
    ...POOL.externalIPs.filter((address) => !address.includes(':')),
  ];
  for (const source of ['203.0.113.5', '10.244.1.200', '198.51.100.11'])
    for (const destination of destinations)
      yield {
        family: 'IPv4',
        inputInterface: source === '198.51.100.11' ? undefined : 'eth0',
        source,
        destination,
        protocol: 'TCP',
        destinationPort: 80,
      };
}

function outcomes(table: TableContents): readonly unknown[] {
  const localAddresses = new Set(LOCAL_ADDRESSES);
  const walked = new WalkedTable('IPv4', table);
  return [...packets()].map((packet) => outcomeOf(walked.walk(packet, { localAddresses })));
}

/** Services of every kind: policies, affinity, source ranges, endpoints here and elsewhere. */
function applyCluster(proxy: InMemoryProxy): void {
  POOL.clusterIPs.IPv4.forEach((clusterIP, number) => {
    const name = `service-${number}`;
    const affinity = number % 2 === 1;
    proxy.events.applied('Service', {
      metadata: { namespace: 'ns', name },
      spec: {
        type: 'LoadBalancer',
        clusterIP,
        ports: [
          { name: 'other', port: 81 },
          { name: 'http', port: 80 },
        ],
        externalTrafficPolicy: number < 2 ? 'Local' : 'Cluster',
        healthCheckNodePort: 32000,
        loadBalancerSourceRanges: number === 1 ? ['203.0.113.0/24', '198.51.100.0/24'] : [],
        ...(affinity ? { sessionAffinity: 'ClientIP' } : {}),
      },
      status: { loadBalancer: { ingress: number < 2 ? [{ ip: `192.0.2.${number + 1}` }] : [] } },
    });
    proxy.events.applied('EndpointSlice', {
      metadata: { namespace: 'ns', name, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [
        { name: 'other', port: 8081 },
        { name: 'http', port: 8080 },
      ],
      endpoints: POOL.endpoints.IPv4.slice(0, 3).map((address, at) => ({
        addresses: [address],
        nodeName: at < 2 ? NODE : 'node2',
      })),
    });
  });
}

function filledCluster(): { desired: NftablesDesiredState; network: NodeNetwork } {
  const proxy = new InMemoryProxy([], SETTINGS, () => LOCAL_ADDRESSES);
  applyCluster(proxy);
  const { forwarding, network } = proxy.contexts.of('IPv4', true);
  const table = new ForwardingTable();
  table.update(proxy.state, proxy.state.serviceKeys(), forwarding);
  const desired = new NftablesDesiredState();
  for (const entry of table.entries()) desired.replace(entry.key, compileNftables(entry));
  return { desired, network };
}

describe('a table filled for the first time', () => {
  it.each([1, 5])(
    '%d elements at once sends no packet elsewhere on the way than in the end',
    async (limit) => {
      const { desired, network } = filledCluster();
      const kernel = new MemoryNftTransport();
      const whole = desiredTable(desired, network);
      const seen: (readonly unknown[])[] = [];
      for await (const { operations } of firstFill(desired, network, limit)) {
        await kernel.commit('IPv4', operations);
        seen.push(outcomes(kernel.contents('IPv4')!));
      }
      const final = seen.at(-1)!;
      expect(final.filter((outcome) => typeof outcome === 'object').length).toBeGreaterThan(12);
      expect(seen.length).toBeGreaterThan(3);
      for (const state of seen)
        state.forEach((outcome, index) => {
          // Until a frontend is there its packets may meet anything but another endpoint.
          if (typeof outcome === 'object' || outcome === 'mixed') expect(outcome).toEqual(final[index]);
          if (typeof final[index] === 'object') expect(outcome).not.toBe('refused');
        });
      const state = await kernel.read(
        'IPv4',
        whole.sets.map(({ set }) => set),
      );
      expect(tableRepair(whole, state, 'IPv4').repair.operations).toEqual([]);
    },
  );
});
