import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';
import type { Operation } from '../../../src/domain/nftables/layout/table.js';
import { sampleEntry, sampleNode } from '../../../src/testing/contract/sample-services.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { nftablesBackend } from '../../support/backends.js';
import { MemoryNftTransport } from '../../support/fakes/memory-nft-transport.js';

type Setting = NodeNetwork['loopbackNodePorts'];

const SETTINGS: readonly Setting[] = [undefined, 'rejected', 'relayed'];
const CHANGES = SETTINGS.flatMap((before) =>
  SETTINGS.filter((after) => after !== before).map((after) => [before, after] as const),
);

const entriesOf = (family: IpFamily): readonly ForwardingEntry[] => [
  sampleEntry(family, 'web', { number: 1, nodePort: 30_080 }),
  sampleEntry(family, 'gone', { number: 2, nodePort: 30_081, endpoints: 0 }),
  sampleEntry(family, 'dns', { number: 3, nodePort: 30_053, protocol: 'UDP' }),
  sampleEntry(family, 'calls', { number: 4, nodePort: 30_132, protocol: 'SCTP' }),
  sampleEntry(family, 'inside', { number: 5 }),
];

const nodeOf = (family: IpFamily, loopbackNodePorts: Setting): NodeNetwork =>
  sampleNode(family, loopbackNodePorts && { loopbackNodePorts });

const openOn = (kernel: MemoryNftTransport, family: IpFamily) =>
  nftablesBackend(family, kernel, new GenerationWatch(kernel), new MemoryLogger());

async function started(kernel: MemoryNftTransport, family: IpFamily, setting: Setting) {
  const backend = openOn(kernel, family);
  await backend.start(entriesOf(family), nodeOf(family, setting));
  return backend;
}

async function freshDump(family: IpFamily, setting: Setting): Promise<string> {
  const kernel = new MemoryNftTransport();
  await started(kernel, family, setting);
  return kernel.dump(family);
}

/** What a rule, chain, set, counter or element is about. */
function placeOf(operation: Operation): string {
  switch (operation.op) {
    case 'add-elements':
    case 'delete-elements':
    case 'add-set':
    case 'delete-set':
      return operation.set.name;
    case 'add-counter':
    case 'delete-counter':
      return operation.counter;
    case 'add-chain':
      return operation.chain.name;
    case 'add-rule':
    case 'flush-chain':
    case 'delete-chain':
      return operation.chain;
    default:
      return 'table';
  }
}

describe.each(IP_FAMILIES)('node ports on loopback addresses, %s', (family) => {
  const table = async (setting: Setting) => {
    const kernel = new MemoryNftTransport();
    await started(kernel, family, setting);
    const { counters, chains, sets } = kernel.contents(family)!;
    const rejected = sets.get('localhost-nodeport-reject-ports');
    return {
      counters: [...counters].sort(),
      chains: [...chains.keys()].filter((name) => name.startsWith('localhost')).sort(),
      elements:
        rejected && [...rejected.elements.values()].map(({ key, value }) => `${key} : ${value}`).sort(),
    };
  };
  const names = (prefix: string, ...protocols: readonly string[]) => protocols.map((each) => prefix + each);

  it('have nothing in the table where the rules leave them alone', async () => {
    expect(await table(undefined)).toEqual({ counters: [], chains: [], elements: undefined });
    expect(await freshDump(family, undefined)).not.toContain('localhost');
  });

  it('have an element, a chain and a counter where they are rejected, with endpoints or without', async () => {
    expect(await table('rejected')).toEqual({
      counters: names('localhost-nodeport-rejected-', 'sctp', 'tcp', 'udp'),
      chains: names('localhost-nodeport-reject-', 'sctp', 'tcp', 'udp'),
      elements: [
        'sctp . 30132 : goto localhost-nodeport-reject-sctp',
        'tcp . 30080 : goto localhost-nodeport-reject-tcp',
        'tcp . 30081 : goto localhost-nodeport-reject-tcp',
        'udp . 30053 : goto localhost-nodeport-reject-udp',
      ],
    });
  });

  it('have none of TCP where that is relayed', async () => {
    expect(await table('relayed')).toEqual({
      counters: names('localhost-nodeport-rejected-', 'sctp', 'udp'),
      chains: names('localhost-nodeport-reject-', 'sctp', 'udp'),
      elements: [
        'sctp . 30132 : goto localhost-nodeport-reject-sctp',
        'udp . 30053 : goto localhost-nodeport-reject-udp',
      ],
    });
  });

  it("are written as kube-proxy's", async () => {
    const text = await freshDump(family, 'rejected');
    const loopback = family === 'IPv4' ? 'ip daddr 127.0.0.0/8' : 'ip6 daddr ::1';
    expect(text).toContain(`	map localhost-nodeport-reject-ports {
		type inet_proto . inet_service : verdict
		comment "localhost NodePorts rejected by kube-proxy"
`);
    expect(text).toContain(`	chain localhost-nodeport-reject-udp {
		counter name "localhost-nodeport-rejected-udp" reject
	}
`);
    expect(text).toContain(
      `\t\t${loopback} meta l4proto . th dport vmap @localhost-nodeport-reject-ports\n\t}\n`,
    );
  });

  it.each(CHANGES)(
    'change from %s to %s with a restart, and nothing else is written',
    async (before, after) => {
      const kernel = new MemoryNftTransport();
      await started(kernel, family, before);
      kernel.resetCounts();
      await started(kernel, family, after);
      expect(kernel.dump(family)).toBe(await freshDump(family, after));
      expect(kernel.refusedCount).toBe(0);
      const places = new Set(kernel.commits.flatMap(({ operations }) => operations.map(placeOf)));
      places.delete('nodeport-endpoints-check');
      expect([...places].filter((place) => !place.startsWith('localhost-nodeport-'))).toEqual([]);
      kernel.resetCounts();
      await started(kernel, family, after);
      expect(kernel.operationCount).toBe(0);
    },
  );

  it.each(CHANGES)('change from %s to %s while it runs', async (before, after) => {
    const kernel = new MemoryNftTransport();
    const backend = await started(kernel, family, before);
    const [from, to] = [nodeOf(family, before), nodeOf(family, after)];
    expect(backend.rulesDependOn!(from, to)).toBe(true);
    const changes = entriesOf(family).map((entry) => ({ key: entry.key, entry }));
    await backend.apply(changes, to);
    await backend.verify('quick');
    expect(kernel.dump(family)).toBe(await freshDump(family, after));
    expect(await backend.verify('full')).toMatchObject({ written: 0 });
    expect(kernel.refusedCount).toBe(0);
  });

  it('come and go with their Services, and keep what was counted', async () => {
    const kernel = new MemoryNftTransport();
    const backend = await started(kernel, family, 'rejected');
    const [web] = entriesOf(family) as [ForwardingEntry];
    await backend.apply([{ key: web.key, entry: undefined }], nodeOf(family, 'rejected'));
    const { counters, sets } = kernel.contents(family)!;
    const keys = () => [...sets.get('localhost-nodeport-reject-ports')!.elements.keys()];
    expect(keys()).not.toContain('tcp . 30080');
    expect(counters).toContain('localhost-nodeport-rejected-tcp');
    await backend.apply([{ key: web.key, entry: web }], nodeOf(family, 'rejected'));
    expect(keys()).toContain('tcp . 30080');
  });

  it('are repaired', async () => {
    const kernel = new MemoryNftTransport();
    const backend = await started(kernel, family, 'rejected');
    const before = kernel.dump(family);
    const { set } = kernel.contents(family)!.sets.get('localhost-nodeport-reject-ports')!;
    kernel.tamper(family, [
      { op: 'delete-elements', set, elements: [{ key: 'tcp . 30080' }] },
      {
        op: 'add-elements',
        set,
        elements: [{ key: 'tcp . 31000', value: 'goto localhost-nodeport-reject-tcp' }],
      },
      { op: 'flush-chain', chain: 'localhost-nodeport-reject-udp' },
      { op: 'delete-counter', counter: 'localhost-nodeport-rejected-udp' },
      { op: 'add-counter', counter: 'strange' },
    ]);
    const name = `${family === 'IPv4' ? 'ip' : 'ip6'} kube-proxy`;
    const lines = (await backend.differences!())!.map(({ sign, text }) => `${sign} ${text}`);
    expect(lines.sort()).toEqual([
      `+ counter ${name} localhost-nodeport-rejected-udp`,
      `+ element ${name} localhost-nodeport-reject-ports { tcp . 30080 : goto localhost-nodeport-reject-tcp }`,
      `+ rule ${name} localhost-nodeport-reject-udp counter name "localhost-nodeport-rejected-udp" reject`,
      `- counter ${name} strange`,
      `- element ${name} localhost-nodeport-reject-ports { tcp . 31000 : goto localhost-nodeport-reject-tcp }`,
    ]);
    await backend.verify('full');
    expect(kernel.dump(family)).toBe(before);
  });

  it('are rejected for Services that an earlier process served and no object explains', async () => {
    const kernel = new MemoryNftTransport();
    await started(kernel, family, 'rejected');
    const before = kernel.dump(family);
    const node = nodeOf(family, 'rejected');
    await openOn(kernel, family).start([], node, { keepUnexplained: true });
    expect(kernel.dump(family)).toBe(before);
    await openOn(kernel, family).start([], nodeOf(family, 'relayed'), { keepUnexplained: true });
    expect(kernel.dump(family)).toBe(await freshDump(family, 'relayed'));
    expect(kernel.refusedCount).toBe(0);
  });
});
