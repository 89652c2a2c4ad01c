import { nftablesBackend } from '../../support/backends.js';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import type { Backend } from '../../../src/application/ports/backend.js';
import { ForwardingTable } from '../../../src/domain/forwarding/forwarding-table.js';
import type { Operation } from '../../../src/domain/nftables/layout/table.js';
import { setsOf, BY_ADDRESS } from '../../../src/domain/nftables/layout/sets.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { MemoryNftTransport } from '../../support/fakes/memory-nft-transport.js';
import { SETTINGS } from '../../support/nftables/cluster-arbitraries.js';
import { InMemoryProxy } from '../../support/nftables/in-memory-proxy.js';

const { frontends, endpoints } = setsOf(BY_ADDRESS);

let kernel: MemoryNftTransport;
let backend: Backend;
let proxy: InMemoryProxy;

beforeEach(async () => {
  kernel = new MemoryNftTransport();
  backend = nftablesBackend('IPv4', kernel, new GenerationWatch(kernel), new MemoryLogger());
  proxy = new InMemoryProxy([backend], SETTINGS, () => ['198.51.100.11']);
  applyService('cart', '172.30.1.1', ['10.244.1.1', '10.244.2.1']);
  applyService('web', '172.30.1.2', ['10.244.1.2']);
  await proxy.sync();
});

function applyService(name: string, clusterIP: string, addresses: readonly string[]): void {
  proxy.events.applied('Service', {
    metadata: { namespace: 'shop', name },
    spec: { clusterIP, ports: [{ name: 'http', port: 80 }] },
  });
  proxy.events.applied('EndpointSlice', {
    metadata: { namespace: 'shop', name, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080 }],
    endpoints: addresses.map((address) => ({ addresses: [address] })),
  });
}

/** The key of the element that leads to this endpoint. */
const keyOf = (value: string): string =>
  [...kernel.contents('IPv4')!.sets.get(endpoints.name)!.elements.values()].find(
    (element) => element.value === value,
  )!.key;
const damage = (...operations: readonly Operation[]): Promise<unknown> => kernel.commit('IPv4', operations);
const lines = async (): Promise<readonly string[]> =>
  (await backend.differences!())!.map(({ sign, text, servicePort }) =>
    [sign, text, ...(servicePort === undefined ? [] : [`(${servicePort})`])].join(' '),
  );

/** The difference must be what is expected, and nothing after the repair. */
async function expectLines(...expected: readonly (string | RegExp)[]): Promise<void> {
  const found = await lines();
  expect(found).toEqual(
    expected.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line))),
  );
  await proxy.verify('full');
  expect(await lines()).toEqual([]);
}

it('is nothing after a sync', async () => {
  expect(await lines()).toEqual([]);
});

it('is nothing for what stays for a while although it is unused', async () => {
  applyService('cart', '172.30.1.1', ['10.244.1.1', '10.244.2.1', '10.244.3.1']);
  await proxy.sync();
  expect(await lines()).toEqual([]);
});

it('changes nothing', async () => {
  await damage({ op: 'delete-elements', set: endpoints, elements: [{ key: keyOf('10.244.2.1 . 8080') }] });
  const before = await kernel.generation();
  await lines();
  expect(await kernel.generation()).toBe(before);
});

it('names an element that was deleted, with its service port', async () => {
  await damage({ op: 'delete-elements', set: endpoints, elements: [{ key: keyOf('10.244.2.1 . 8080') }] });
  await expectLines(
    /^\+ element ip kube-proxy \S+ \{ 172\.30\.1\.1 \. tcp \. 80 \. \S+ : 10\.244\.2\.1 \. 8080 \} \(shop\/cart:http\)$/,
  );
});

it('names an element that leads elsewhere, as it is and as it should be', async () => {
  const key = keyOf('10.244.1.2 . 8080');
  await damage(
    { op: 'delete-elements', set: endpoints, elements: [{ key }] },
    { op: 'add-elements', set: endpoints, elements: [{ key, value: '10.9.9.9 . 666' }] },
  );
  await expectLines(
    /^- element .* : 10\.9\.9\.9 \. 666 \} \(shop\/web:http\)$/,
    /^\+ element .* : 10\.244\.1\.2 \. 8080 \} \(shop\/web:http\)$/,
  );
});

it('names an element that another program added', async () => {
  const [element] = kernel.contents('IPv4')!.sets.get(frontends.name)!.elements.values();
  const foreign = { ...element!, key: '172.30.9.9 . tcp . 80', comment: 'shop/gone:http' };
  await damage({ op: 'add-elements', set: frontends, elements: [foreign] });
  await expectLines(/^- element .*172\.30\.9\.9 \. tcp \. 80 .*\(shop\/gone:http\)$/);
});

it('names all of a service whose frontend was deleted', async () => {
  const [web] = [...kernel.contents('IPv4')!.sets.get(frontends.name)!.elements.values()].filter(({ key }) =>
    key.startsWith('172.30.1.2 '),
  );
  await damage({ op: 'delete-elements', set: frontends, elements: [web!] });
  await expectLines(/^\+ element .*172\.30\.1\.2 \. tcp \. 80 .*\(shop\/web:http\)$/);
});

it('names rules that were lost, and rules of others, each alone', async () => {
  const [name, { rules }] = [...kernel.contents('IPv4')!.chains].find(([, chain]) => chain.rules.length > 2)!;
  await damage(
    { op: 'flush-chain', chain: name },
    ...rules.flatMap((rule, index): Operation[] => {
      if (index === 1) return [];
      const foreign = { ...rules[0]!, comment: 'foreign' };
      const own: Operation = { op: 'add-rule', chain: name, rule };
      return index === 2 ? [{ op: 'add-rule', chain: name, rule: foreign }, own] : [own];
    }),
  );
  await expectLines(
    new RegExp(`^- rule ip kube-proxy ${name} .* comment "foreign"$`),
    new RegExp(`^\\+ rule ip kube-proxy ${name} `),
  );
});

it('names chains and sets of others', async () => {
  await damage({ op: 'add-chain', chain: { name: 'foreign' } });
  await expectLines('- chain ip kube-proxy foreign');
});

it('names everything when the table is gone', async () => {
  await damage({ op: 'delete-table' });
  const found = await lines();
  expect(found[0]).toBe('+ table ip kube-proxy');
  expect(found.filter((line) => line.endsWith('(shop/cart:http)')).length).toBeGreaterThan(2);
  expect(found.every((line) => line.startsWith('+ '))).toBe(true);
  await proxy.verify('full');
  expect(await lines()).toEqual([]);
});

describe('of what is planned', () => {
  const planned = async (keepUnexplained: boolean): Promise<readonly string[]> => {
    const other = nftablesBackend('IPv4', kernel, new GenerationWatch(kernel), new MemoryLogger());
    const future = new InMemoryProxy([other], SETTINGS, () => ['198.51.100.11']);
    future.events.applied('Service', {
      metadata: { namespace: 'shop', name: 'new' },
      spec: { clusterIP: '172.30.1.3', ports: [{ port: 80 }] },
    });
    const { forwarding, network } = future.contexts.of('IPv4', true);
    const table = new ForwardingTable();
    table.update(future.state, [...future.state.serviceKeys()], forwarding);
    const found = await other.plannedDifferences!(table.entries(), network, { keepUnexplained });
    return found!.map(({ sign, servicePort }) => `${sign} ${servicePort}`);
  };

  it('is what comes, and nothing of other Services', async () => {
    expect(new Set(await planned(true))).toEqual(new Set(['+ shop/new']));
  });

  it('is what comes and goes, when everything is known', async () => {
    const signs = await planned(false);
    expect(signs).toContain('+ shop/new');
    expect(signs).toContain('- shop/cart:http');
  });
});
