import { nftablesBackend } from '../../support/backends.js';
import fc from 'fast-check';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { MemoryNftTransport } from '../../support/fakes/memory-nft-transport.js';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import type { NodeSettings } from '../../../src/application/node/node-contexts.js';
import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';
import type { PacketPath, Packet } from '../../../src/diagnostics/domain/trace/trace.js';
import { endpointText } from '../../support/trace/outcome.js';
import { ruleText } from '../../../src/domain/nftables/kernel/rule-text.js';
import { expectedOutcome, type Expected } from '../../support/nftables/expected-outcome.js';
import {
  history,
  LOCAL_ADDRESSES,
  settings,
  survivors,
  type Change,
} from '../../support/nftables/cluster-arbitraries.js';
import { packets } from '../../support/nftables/pool-packets.js';
import { rememberedBy, WalkedTable } from '../../support/nftables/walked-table.js';
import { InMemoryProxy } from '../../support/nftables/in-memory-proxy.js';

const proxyLogger = new MemoryLogger();
const localAddresses = new Set(LOCAL_ADDRESSES);

function proxyOn(kernel: MemoryNftTransport, nodeSettings: NodeSettings): InMemoryProxy {
  const generations = new GenerationWatch(kernel);
  const proxy: InMemoryProxy = new InMemoryProxy(
    IP_FAMILIES.map((family) => nftablesBackend(family, kernel, generations, proxyLogger)),
    nodeSettings,
    () => LOCAL_ADDRESSES,
  );
  return proxy;
}

async function live(proxy: InMemoryProxy, changes: readonly Change[]): Promise<void> {
  for (const step of changes) {
    if (step.change === 'apply') proxy.events.applied(step.kind, step.object);
    else if (step.change === 'delete') proxy.events.deleted(step.kind, step);
    else expect((await proxy.sync()).flatMap(({ failed }) => failed)).toEqual([]);
  }
  expect((await proxy.sync()).flatMap(({ failed }) => failed)).toEqual([]);
  expect(proxy.reports.rejected).toEqual([]);
}

/** A table as comparable values. */
function contentsIn(kernel: MemoryNftTransport, family: IpFamily): unknown {
  const { chains, sets } = kernel.contents(family)!;
  return {
    chains: Object.fromEntries(
      [...chains.values()].map(({ chain, rules }) => [
        chain.name,
        { hook: chain.hook, rules: rules.map((rule) => ruleText(rule, family)) },
      ]),
    ),
    sets: Object.fromEntries([...sets].map(([name, { set, elements }]) => [name, { set, elements }])),
  };
}

const runs = 8;
/** Of thousands of packets for each cluster, a part, another one each time. */
const STRIDE = 16;

describe('a table changed step by step', () => {
  it('equals the table of a fresh start, is found right, and does what the forwarding table says', async () => {
    await fc.assert(
      fc.asyncProperty(history, settings, fc.nat(STRIDE - 1), async (changes, nodeSettings, first) => {
        const kernel = new MemoryNftTransport();
        const proxy = proxyOn(kernel, nodeSettings);
        await live(proxy, changes);
        const fresh = new MemoryNftTransport();
        const final = survivors(changes);
        await live(proxyOn(fresh, nodeSettings), [...final].reverse());

        // Unused structures are removed by the next verification, and then nothing is left to do.
        expect(await proxy.verify('full')).toBe(0);
        for (const family of IP_FAMILIES)
          expect(contentsIn(kernel, family)).toEqual(contentsIn(fresh, family));
        kernel.resetCounts();
        kernel.bystanderCommits();
        expect(await proxy.verify('full')).toBe(0);
        expect(kernel.operationCount).toBe(0);

        // A restart finds everything as it should be.
        await live(proxyOn(kernel, nodeSettings), final);
        expect(kernel.operationCount).toBe(0);
        expect(kernel.refusedCount).toBe(0);
        for (const family of IP_FAMILIES)
          expectForwarding(proxy, new WalkedTable(family, kernel.contents(family)!), family, first);
      }),
      { numRuns: runs },
    );
  });
});

function expectForwarding(proxy: InMemoryProxy, table: WalkedTable, family: IpFamily, first: number): void {
  const entries = [...proxy.families.get(family)!.sync.table.entries()];
  const { network } = proxy.contexts.of(family, false);
  for (const packet of [...packets(family)].filter((_, place) => place % STRIDE === first)) {
    const isLocalClient = packet.inputInterface === undefined;
    const own = isLocalClient ? new Set([...localAddresses, packet.source]) : localAddresses;
    const expected = expectedOutcome(entries, network, packet, own);
    const actual = actualOutcome(table, packet, own);
    if (!same(actual, expected)) expect({ packet, outcome: actual }).toEqual({ packet, outcome: expected });
  }
}

function actualOutcome(table: WalkedTable, packet: Packet, own: ReadonlySet<string>): Expected | 'mixed' {
  const endings = table.walk(packet, { localAddresses: own });
  const [first] = endings;
  if (endings.some(({ verdict }) => verdict !== first!.verdict)) return 'mixed';
  if (first!.verdict !== 'forward') return first!.verdict;
  if (!returns(table, packet, own, first!)) return 'mixed';
  return new Map(endings.map((ending) => [endpointText(ending)!, ending.masquerade]));
}

/** With session affinity a client that comes again is sent where it was. */
function returns(table: WalkedTable, packet: Packet, own: ReadonlySet<string>, before: PacketPath): boolean {
  const made = rememberedBy(before);
  if (!made) return true;
  const remembered = new Map([[made.set, new Set([made.key])]]);
  const again = table.walk(packet, { localAddresses: own, remembered });
  return again.every((ending) => endpointText(ending) === endpointText(before));
}

function same(one: Expected | 'mixed', other: Expected): boolean {
  if (typeof one === 'string' || typeof other === 'string') return one === other;
  return (
    one.size === other.size && [...one].every(([endpoint, masquerade]) => other.get(endpoint) === masquerade)
  );
}
