import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import type { Backend } from '../../../src/application/ports/backend.js';
import {
  BY_ADDRESS,
  BY_NODE_PORT,
  CLUSTER_IPS,
  HAIRPIN_CONNECTIONS,
  setsOf,
} from '../../../src/domain/nftables/layout/sets.js';
import {
  KUBE_PROXY_MAPS,
  kubeProxyMapsOf,
  MAP_OF_ANOTHER_LAYOUT,
} from '../../../src/domain/nftables/layout/kube-proxy-maps.js';
import type { Operation, SetDefinition } from '../../../src/domain/nftables/layout/table.js';
import { sampleEntry, sampleNode } from '../../../src/testing/contract/sample-services.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { nftablesBackend } from '../../support/backends.js';
import { MemoryNftTransport, type Refusal } from '../../support/fakes/memory-nft-transport.js';

const node = sampleNode('IPv4');
const refused = sampleEntry('IPv4', 'refused', { number: 7, nodePort: 30_007 });
const good = sampleEntry('IPv4', 'good', { number: 8 });
const { services, noEndpoints, firewall } = kubeProxyMapsOf(BY_ADDRESS);
const nodePorts = kubeProxyMapsOf(BY_NODE_PORT).services;
const { frontends } = setsOf(BY_ADDRESS);

const chainOf = (kind: string, name: string) => `${kind}-ABCDEFGH-contract/${name}/tcp/main`;
const CHAINS = ['refused', 'good', 'former'].flatMap((name) => [
  chainOf('service', name),
  chainOf('external', name),
]);

/** As kube-proxy writes it; its chains have no rules here. */
const OF_KUBE_PROXY: readonly Operation[] = [
  { op: 'add-table', comment: 'rules for kube-proxy' },
  ...[...KUBE_PROXY_MAPS, CLUSTER_IPS, HAIRPIN_CONNECTIONS].map((set) => ({ op: 'add-set', set }) as const),
  ...['services', 'reject-chain', chainOf('firewall', 'refused'), ...CHAINS].map(
    (name) => ({ op: 'add-chain', chain: { name } }) as const,
  ),
  {
    op: 'add-elements',
    set: services,
    elements: [
      { key: '10.96.77.7 . tcp . 80', value: `goto ${chainOf('service', 'refused')}` },
      { key: '10.96.77.8 . tcp . 80', value: `goto ${chainOf('service', 'good')}` },
      { key: '10.96.77.9 . tcp . 80', value: `goto ${chainOf('service', 'former')}` },
    ],
  },
  {
    op: 'add-elements',
    set: nodePorts,
    elements: [
      { key: 'tcp . 30007', value: `goto ${chainOf('external', 'refused')}` },
      { key: 'tcp . 30009', value: `goto ${chainOf('external', 'former')}` },
    ],
  },
  {
    op: 'add-elements',
    set: firewall!,
    elements: [{ key: '10.96.77.7 . tcp . 80', value: `goto ${chainOf('firewall', 'refused')}` }],
  },
  {
    op: 'add-elements',
    set: noEndpoints,
    elements: [
      { key: '192.0.2.7 . tcp . 80', value: 'goto reject-chain', comment: 'contract/refused:main' },
      { key: '192.0.2.9 . tcp . 80', value: 'drop', comment: 'contract/former:main' },
    ],
  },
  {
    op: 'add-elements',
    set: CLUSTER_IPS,
    elements: [{ key: '10.96.77.7' }, { key: '10.96.77.8' }, { key: '10.96.77.9' }],
  },
];

const ofRefused: Refusal = (operation, element) =>
  operation.op === 'add-elements' && element?.comment === 'contract/refused:main' ? 'EINVAL' : undefined;

let kernel: MemoryNftTransport;
let logger: MemoryLogger;
let backend: Backend;

const keysOf = ({ name }: SetDefinition) => [
  ...(kernel.contents('IPv4')!.sets.get(name)?.elements.keys() ?? []),
];
const chains = () => [...kernel.contents('IPv4')!.chains.keys()];
const start = (entries = [refused, good], keepUnexplained = false) =>
  backend.start(entries, node, { keepUnexplained });

function expectKept(): void {
  expect(keysOf(services)).toEqual(['10.96.77.7 . tcp . 80']);
  expect(keysOf(nodePorts)).toEqual(['tcp . 30007']);
  expect(keysOf(firewall!)).toEqual(['10.96.77.7 . tcp . 80']);
  expect(keysOf(noEndpoints)).toEqual(['192.0.2.7 . tcp . 80']);
  expect(keysOf(CLUSTER_IPS).sort()).toEqual(['10.96.77.7', '10.96.77.8']);
  expect(keysOf(frontends)).toEqual(['10.96.77.8 . tcp . 80']);
  expect(chains()).toEqual(expect.arrayContaining([...CHAINS, 'reject-chain']));
  const table = kernel.dump('IPv4');
  for (const { name } of KUBE_PROXY_MAPS) expect(table).toContain(`vmap @${name}`);
}

function expectNothingOfKubeProxy(): void {
  const table = kernel.dump('IPv4');
  for (const { name } of KUBE_PROXY_MAPS) expect(table).not.toMatch(new RegExp(`\\b${name}\\b`));
  expect(chains().filter((name) => name.includes('/') || name === 'reject-chain')).toEqual([]);
}

beforeEach(() => {
  kernel = new MemoryNftTransport();
  logger = new MemoryLogger();
  kernel.tamper('IPv4', OF_KUBE_PROXY);
  backend = nftablesBackend('IPv4', kernel, new GenerationWatch(kernel), logger);
});

describe('a table of kube-proxy', () => {
  it('is replaced as a whole where everything can be programmed', async () => {
    expect((await start()).failed).toEqual([]);
    expect(kernel.commits).toHaveLength(1);
    expect(kernel.commits[0]!.operations[0]).toEqual({ op: 'delete-table' });
    expectNothingOfKubeProxy();
  });

  it.each(['element', 'nothing'] as const)(
    'keeps what it has of a service port that is refused, and nothing else (the kernel names: %s)',
    async (blame) => {
      kernel.refuse(ofRefused, blame);
      expect((await start()).failed.map(({ key }) => key)).toEqual([refused.key]);
      expectKept();
      expect(kernel.commits.flatMap(({ operations }) => operations.map(({ op }) => op))).not.toContain(
        'delete-table',
      );
      expect(logger.lines.map(({ message }) => message).join()).toContain('keeping rules of kube-proxy');
    },
  );

  it('keeps it while changes are made, comparisons find nothing, and after a restart', async () => {
    kernel.refuse(ofRefused);
    await start();
    expect(await backend.verify('full')).toMatchObject({ written: 0, failed: [] });
    expect(await backend.differences!()).toEqual([]);
    const added = sampleEntry('IPv4', 'added', { number: 9 });
    await backend.apply([{ key: added.key, entry: added }], node);
    await backend.apply([{ key: added.key, entry: undefined }], node);
    expectKept();
    backend = nftablesBackend('IPv4', kernel, new GenerationWatch(kernel), logger);
    expect((await start()).failed.map(({ key }) => key)).toEqual([refused.key]);
    expectKept();
  });

  it('goes as soon as the service port can be programmed: with the next comparison, which blames nobody', async () => {
    const lift = kernel.refuse(ofRefused);
    await start();
    lift();
    expect((await backend.apply([{ key: refused.key, entry: refused }], node)).failed).toEqual([]);
    expect(keysOf(services)).toEqual([]);
    expect(keysOf(frontends).sort()).toEqual(['10.96.77.7 . tcp . 80', '10.96.77.8 . tcp . 80']);
    expect(await backend.verify('quick')).toMatchObject({ compared: true, retriedDeletes: true });
    expectNothingOfKubeProxy();
    expect(await backend.verify('quick')).toMatchObject({ compared: false });
  });

  it('stays closed to other sources while the service port is tried again', async () => {
    const restricted = sampleEntry('IPv4', 'refused', { number: 7, external: true, sourceRanges: true });
    kernel.refuse(ofRefused);
    await start([restricted, good]);
    kernel.resetCounts();
    await backend.apply([{ key: restricted.key, entry: restricted }], node);
    const rewritten = kernel.commits.filter(({ operations }) =>
      operations.some((operation) => operation.op === 'flush-chain' && operation.chain === 'firewall-check'),
    );
    expect(rewritten).not.toEqual([]);
    for (const { operations } of rewritten) expect(JSON.stringify(operations)).toContain(firewall!.name);
  });

  it('goes when the service port is removed', async () => {
    kernel.refuse(ofRefused);
    await start();
    await backend.apply([{ key: refused.key, entry: undefined }], node);
    expect(keysOf(services)).toEqual([]);
    await backend.verify('quick');
    expectNothingOfKubeProxy();
  });

  it('keeps what it has of Services that cannot be read', async () => {
    expect((await start([good], true)).failed).toEqual([]);
    expect(keysOf(services).sort()).toEqual(['10.96.77.7 . tcp . 80', '10.96.77.9 . tcp . 80']);
    expect(keysOf(noEndpoints)).toHaveLength(2);
    expect(backend.mayKeep!(refused.name)).toBe(true);
    expect((await backend.apply([{ key: refused.key, entry: refused }], node)).failed).toEqual([]);
    expect(keysOf(services)).toEqual(['10.96.77.9 . tcp . 80']);
    expect((await start()).failed).toEqual([]);
    expectNothingOfKubeProxy();
  });
});

it('nothing is kept of the oldest layout, whose maps have names of kube-proxy and other types', async () => {
  kernel.tamper('IPv4', [
    { op: 'delete-table' },
    { op: 'add-table', comment: '' },
    { op: 'add-set', set: { name: MAP_OF_ANOTHER_LAYOUT, key: services.key, value: ['priority'] } },
  ]);
  kernel.refuse(ofRefused);
  expect((await start()).failed.map(({ key }) => key)).toEqual([refused.key]);
  expect(kernel.contents('IPv4')!.sets.has(MAP_OF_ANOTHER_LAYOUT)).toBe(false);
  expect(keysOf(frontends)).toEqual(['10.96.77.8 . tcp . 80']);
});
