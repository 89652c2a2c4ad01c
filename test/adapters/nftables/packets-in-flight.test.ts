import { nftablesBackend } from '../../support/backends.js';
import fc from 'fast-check';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { MemoryNftTransport } from '../../support/fakes/memory-nft-transport.js';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { Packet, PacketPath } from '../../../src/diagnostics/domain/trace/trace.js';
import type { Operation } from '../../../src/domain/nftables/layout/table.js';
import type { KernelTable } from '../../../src/domain/nftables/kernel/ruleset.js';
import { endpointText } from '../../support/trace/outcome.js';
import { WalkedTable, walkTable } from '../../support/nftables/walked-table.js';
import { LOCAL_ADDRESSES, NODE, SETTINGS } from '../../support/nftables/cluster-arbitraries.js';
import { InMemoryProxy } from '../../support/nftables/in-memory-proxy.js';

/** Keeps what the table was after each transaction. */
class RememberingKernel extends MemoryNftTransport {
  readonly states: WalkedTable[] = [];

  override async commit(family: IpFamily, operations: readonly Operation[]): Promise<number | undefined> {
    const generation = await super.commit(family, operations);
    if (operations.length > 0) this.states.push(this.copy());
    return generation;
  }

  /** What the table is now. */
  copy(): WalkedTable {
    return new WalkedTable('IPv4', this.contents('IPv4')!);
  }
}

/**
 * A table that changes while a packet is in it, as the kernel shows it: lookups answer as of their moment, while rules are
 * those of the moment at which the packet came to the hook. A chain that was not there then has no rules.
 */
class MovingTable {
  /** Lookups so far. */
  lookups = 0;
  private readonly table: KernelTable;

  /** @param moment the number of lookups before the change */
  constructor(
    private readonly before: WalkedTable,
    private readonly after: WalkedTable,
    private readonly moment: number,
  ) {
    let { chains } = before.table;
    const atHook = () => (chains = this.present.table.chains).values();
    const chain = (name: string) => chains.get(name) ?? { name, number: 0, rules: [] };
    this.table = {
      ...before.table,
      chains: Object.assign(new Map(chains), { values: atHook, get: chain }),
      sets: new Map([...before.table.sets, ...after.table.sets]),
    };
  }

  walk(packet: Packet): readonly PacketPath[] {
    const find = (set: string, key: Uint8Array) => {
      const element = this.present.find(set, key);
      this.lookups++;
      return element;
    };
    return walkTable(this.table, find, packet, environment);
  }

  private get present(): WalkedTable {
    return this.lookups < this.moment ? this.before : this.after;
  }
}

interface ServiceState {
  /** Of each endpoint its number, and whether it is on the node. */
  readonly endpoints: readonly (readonly [number: number, local: boolean])[];
  readonly sticky: boolean;
  readonly local: boolean;
  readonly restricted: boolean;
  /** Endpoints have weights, and come one after another. Not where clients stick to them, which takes a table of many slots. */
  readonly weighted: boolean;
}

const endpoints = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.boolean()), {
  selector: ([number]) => number,
  minLength: 1,
  maxLength: 3,
});
const serviceState = fc.record<ServiceState>({
  endpoints,
  sticky: fc.boolean(),
  local: fc.boolean(),
  restricted: fc.boolean(),
  weighted: fc.boolean(),
});
const clusterState = fc.tuple(serviceState, serviceState);

const WEIGHTED = {
  'kube-proxy-ts/load-balancing': 'round-robin',
  'kube-proxy-ts/weight': '{"10.244.1.1": 3, "10.244.2.2": 2}',
};

function apply(proxy: InMemoryProxy, states: readonly ServiceState[]): void {
  states.forEach((state, at) => {
    const name = `s${at}`;
    proxy.events.applied('Service', {
      metadata: { namespace: 'ns', name, ...(state.weighted && !state.sticky && { annotations: WEIGHTED }) },
      spec: {
        type: 'LoadBalancer',
        clusterIP: `172.30.0.${at + 1}`,
        ports: [{ port: 80, nodePort: 30080 + at }],
        externalTrafficPolicy: state.local ? 'Local' : 'Cluster',
        ...(state.local && { healthCheckNodePort: 32000 + at }),
        ...(state.restricted && { loadBalancerSourceRanges: ['203.0.113.0/24'] }),
        ...(state.sticky && { sessionAffinity: 'ClientIP' }),
      },
      status: { loadBalancer: { ingress: [{ ip: `192.0.2.${at + 1}` }] } },
    });
    proxy.events.applied('EndpointSlice', {
      metadata: { namespace: 'ns', name, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [{ name: '', port: 8080 }],
      endpoints: state.endpoints.map(([number, local]) => ({
        addresses: [`10.244.${local ? 1 : 2}.${number}`],
        nodeName: local ? NODE : 'node2',
      })),
    });
  });
}

const environment = { localAddresses: new Set(LOCAL_ADDRESSES) };

function* packets(): Iterable<Packet> {
  const from = [
    { source: '203.0.113.5', inputInterface: 'eth0' },
    { source: '10.244.1.200', inputInterface: 'veth5' },
    { source: '198.51.100.11', inputInterface: undefined },
  ];
  const to = [0, 1].flatMap((at) => [
    { destination: `172.30.0.${at + 1}`, destinationPort: 80 },
    { destination: `192.0.2.${at + 1}`, destinationPort: 80 },
    { destination: '198.51.100.11', destinationPort: 30080 + at },
  ]);
  for (const client of from)
    for (const destination of to) yield { family: 'IPv4', protocol: 'TCP', ...client, ...destination };
}

const fates = (endings: readonly PacketPath[]): readonly string[] =>
  endings.map((ending) => endpointText(ending) ?? ending.verdict);
const served = (fate: string): boolean => fate.includes(':');

describe('a packet that meets the table while it changes', () => {
  it('is sent to an endpoint from before or after, where it would have been served before and after', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(clusterState, { minLength: 2, maxLength: 4 }), async (steps) => {
        const kernel = new RememberingKernel();
        const backend = nftablesBackend('IPv4', kernel, new GenerationWatch(kernel), new MemoryLogger());
        const proxy = new InMemoryProxy([backend], SETTINGS, () => LOCAL_ADDRESSES);
        for (const [step, states] of steps.entries()) {
          apply(proxy, states);
          if (step > 0) kernel.states.splice(0, Infinity, kernel.copy());
          await proxy.sync();
          if (step > 0) {
            // Now and then what is unused is removed: that, too, happens under packets.
            if (step % 2 === 0) await proxy.verify('quick');
            expectService(kernel.states);
          }
        }
        expect(kernel.refusedCount).toBe(0);
      }),
      { numRuns: 2 },
    );
  });
});

/** Through every two neighbouring states, with the change before each lookup. */
function expectService(states: readonly WalkedTable[]): void {
  for (const packet of packets()) {
    const [first, last] = [states[0]!, states.at(-1)!].map((table) => fates(table.walk(packet, environment)));
    const allowed = new Set([...first!, ...last!]);
    if (![...allowed].every(served)) continue;
    states.slice(1).forEach((after, at) => {
      const before = states[at]!;
      for (let moment = 0, last = 0; moment <= last; moment++) {
        const table = new MovingTable(before, after, moment);
        const lost = fates(table.walk(packet)).filter((fate) => !allowed.has(fate));
        if (lost.length > 0) expect({ packet, transaction: at, moment, lost }).toEqual([]);
        last = table.lookups;
      }
    });
  }
}
