import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import type { NftTransport } from '../../../src/adapters/nftables/transport.js';
import type { Backend } from '../../../src/application/ports/backend.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { endpointIds } from '../../../src/domain/nftables/endpoint-numbers.js';
import { AFFINITY } from '../../../src/domain/nftables/layout/sets.js';
import type { SetElement } from '../../../src/domain/nftables/layout/table.js';
import { sampleNode } from '../../../src/testing/contract/sample-services.js';
import { variant } from '../../../src/testing/contract/sample-sets.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { TransportUnderTest } from './transport-under-test.js';
import { nftablesBackend } from '../../support/backends.js';
import { MemoryNftTransport } from '../../support/fakes/memory-nft-transport.js';
import { until } from '../../support/until.js';

const CLIENTS = { IPv4: ['192.0.2.7', '192.0.2.8'], IPv6: ['2001:db8::7', '2001:db8::8'] } as const;

function sticky(family: IpFamily, endpoints: number): ForwardingEntry {
  return variant(family, 'sticky', { endpoints });
}

/** What the kernel remembers: these clients of each endpoint. */
function memoryOf(entry: ForwardingEntry, clients: readonly string[]): SetElement[] {
  return [...endpointIds(entry).values()].flatMap((id) =>
    clients.map((client) => ({ key: `${id} . ${client}` })),
  );
}

const keysOf = (elements: readonly SetElement[]) => elements.map(({ key }) => key).sort();

async function remembered(kernel: NftTransport, family: IpFamily): Promise<readonly string[]> {
  return [...(await kernel.select(family, AFFINITY, () => true))].sort();
}

function change(backend: Backend, family: IpFamily, endpoints: number): ReturnType<Backend['apply']> {
  const entry = sticky(family, endpoints);
  return backend.apply([{ key: entry.key, entry }], sampleNode(family));
}

describe.each<IpFamily>(['IPv4', 'IPv6'])('the memory of clients (%s)', (family) => {
  const all = memoryOf(sticky(family, 3), CLIENTS[family]);
  const ofTwo = keysOf(memoryOf(sticky(family, 2), CLIENTS[family]));

  describe.each<[string, () => NftTransport]>([
    ['in memory', () => new MemoryNftTransport()],
    ['on a simulated kernel', () => new TransportUnderTest().open()],
  ])('%s', (_, open) => {
    it('goes with its endpoint, and stays for all others', async () => {
      const kernel = open();
      const logger = new MemoryLogger();
      const backend = nftablesBackend(family, kernel, new GenerationWatch(kernel), logger);
      await backend.start([sticky(family, 3)], sampleNode(family));
      await kernel.commit(family, [{ op: 'add-elements', set: AFFINITY, elements: all }]);
      await change(backend, family, 2);
      await until('it is gone', async () => (await remembered(kernel, family)).length < all.length);
      expect(await remembered(kernel, family)).toEqual(ofTwo);
      await backend.close();
      expect(logger.lines.filter(({ level }) => level === 'warn')).toEqual([]);
    });
  });
});

describe('the memory of clients', () => {
  const all = memoryOf(sticky('IPv4', 3), CLIENTS.IPv4);
  const ofTwo = keysOf(memoryOf(sticky('IPv4', 2), CLIENTS.IPv4));
  const own = keysOf(all).filter((key) => !ofTwo.includes(key));
  let kernel: MemoryNftTransport;
  let logger: MemoryLogger;
  let backend: Backend;

  beforeEach(() => {
    kernel = new MemoryNftTransport();
    logger = new MemoryLogger();
    backend = nftablesBackend('IPv4', kernel, new GenerationWatch(kernel), logger);
  });
  afterEach(() => backend.close());

  const remember = (elements: readonly SetElement[]) =>
    kernel.tamper('IPv4', [{ op: 'add-elements', set: AFFINITY, elements }]);
  const warnings = () => logger.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
  const untilRemembered = (keys: readonly string[]) =>
    until('it is gone', async () => (await remembered(kernel, 'IPv4')).join() === keys.join());

  it('that an earlier process left under ids that nobody has goes at the start', async () => {
    await backend.start([sticky('IPv4', 3)], sampleNode('IPv4'));
    remember(all);
    const next = nftablesBackend('IPv4', kernel, new GenerationWatch(kernel), logger);
    await next.start([sticky('IPv4', 2)], sampleNode('IPv4'));
    await untilRemembered(ofTwo);
    await next.close();
  });

  it('is looked for only when an endpoint has gone', async () => {
    const { select } = kernel;
    let listings = 0;
    kernel.select = (...parts) => {
      listings++;
      return select.apply(kernel, parts);
    };
    await backend.start([sticky('IPv4', 2)], sampleNode('IPv4'));
    await change(backend, 'IPv4', 3);
    expect(listings).toBe(0);
    await change(backend, 'IPv4', 2);
    expect(listings).toBe(1);
  });

  it('stays if the endpoint is back before it is removed', async () => {
    await backend.start([sticky('IPv4', 3)], sampleNode('IPv4'));
    remember(all);
    const { select } = kernel;
    let listings = 0;
    kernel.select = async (...parts) => {
      const selected = await select.apply(kernel, parts);
      if (++listings === 1) await change(backend, 'IPv4', 3);
      return selected;
    };
    await change(backend, 'IPv4', 2);
    await until('what was found has been dealt with', async () => listings === 2);
    await backend.close();
    expect(await remembered(kernel, 'IPv4')).toEqual(keysOf(all));
  });

  it('may time out while it is removed', async () => {
    await backend.start([sticky('IPv4', 3)], sampleNode('IPv4'));
    remember(all);
    const { commit } = kernel;
    kernel.commit = async (family, operations) => {
      if (
        operations.some(
          ({ op, ...rest }) => op === 'delete-elements' && 'set' in rest && rest.set === AFFINITY,
        )
      ) {
        kernel.commit = commit;
        kernel.tamper('IPv4', [{ op: 'delete-elements', set: AFFINITY, elements: [{ key: own[0]! }] }]);
      }
      return commit.call(kernel, family, operations);
    };
    await change(backend, 'IPv4', 2);
    await untilRemembered(ofTwo);
    expect(warnings()).toEqual([]);
  });

  it('that cannot be removed fails no sync, is reported, and goes with the next change', async () => {
    await backend.start([sticky('IPv4', 3)], sampleNode('IPv4'));
    remember(all);
    const lift = kernel.refuse((operation) =>
      operation.op === 'delete-elements' && operation.set === AFFINITY ? 'ENOMEM' : undefined,
    );
    expect((await change(backend, 'IPv4', 2)).failed).toEqual([]);
    await until('it is reported', async () => warnings().length > 0);
    expect(warnings()).toEqual([expect.stringContaining('cannot remove session affinity')]);
    expect(await remembered(kernel, 'IPv4')).toEqual(keysOf(all));
    lift();
    const plain = variant('IPv4', 'plain', {});
    await until('it is gone', async () => {
      await backend.apply([{ key: plain.key, entry: plain }], sampleNode('IPv4'));
      return (await remembered(kernel, 'IPv4')).length === ofTwo.length;
    });
    expect(await remembered(kernel, 'IPv4')).toEqual(ofTwo);
  });

  it('of many clients goes in several transactions', async () => {
    await backend.start([sticky('IPv4', 3)], sampleNode('IPv4'));
    const clients = Array.from({ length: 2_500 }, (_, i) => `198.18.${i >> 8}.${i & 255}`);
    remember(memoryOf(sticky('IPv4', 3), clients));
    kernel.resetCounts();
    await change(backend, 'IPv4', 2);
    await untilRemembered(keysOf(memoryOf(sticky('IPv4', 2), clients)));
    const sizes = kernel.commits.flatMap(({ operations }) =>
      operations.flatMap((operation) =>
        operation.op === 'delete-elements' && operation.set === AFFINITY ? [operation.elements.length] : [],
      ),
    );
    expect(sizes).toEqual([1_000, 1_000, 500]);
  });
});
