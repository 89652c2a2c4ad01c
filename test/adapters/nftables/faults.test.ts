import { DROP, leadTo, rule, RuleParts } from '../../../src/domain/nftables/layout/rule-parts.js';
import { nftablesBackend } from '../../support/backends.js';
import { MemoryNftTransport, type Blame } from '../../support/fakes/memory-nft-transport.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import { outcomeOf, type Outcome } from '../../support/trace/outcome.js';
import { setsOf, BY_ADDRESS } from '../../../src/domain/nftables/layout/sets.js';
import type { Operation, SetDefinition } from '../../../src/domain/nftables/layout/table.js';
import { SETTINGS } from '../../support/nftables/cluster-arbitraries.js';
import { WalkedTable } from '../../support/nftables/walked-table.js';
import { InMemoryProxy } from '../../support/nftables/in-memory-proxy.js';

const SERVICES = 12;
const clusterIP = (number: number) => `172.30.1.${number}`;
const endpoint = (number: number, generation = 0) => `10.244.${2 + generation}.${number}`;

function applyService(proxy: InMemoryProxy, number: number, generation = 0): void {
  const name = `service-${number}`;
  proxy.events.applied('Service', {
    metadata: { namespace: 'ns', name },
    spec: { clusterIP: clusterIP(number), ports: [{ port: 80 }] },
  });
  proxy.events.applied('EndpointSlice', {
    metadata: { namespace: 'ns', name, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ name: '', port: 8080 }],
    endpoints: [{ addresses: [endpoint(number, generation)] }],
  });
}

function proxyOn(kernel: MemoryNftTransport, compile = compileNftables): InMemoryProxy {
  const watch = new GenerationWatch(kernel);
  const backend = nftablesBackend('IPv4', kernel, watch, new MemoryLogger(), { compile });
  return new InMemoryProxy([backend], SETTINGS, () => ['198.51.100.11']);
}

/** What happens to a packet to each of these services. */
function outcomes(kernel: MemoryNftTransport, numbers: readonly number[]): readonly Outcome[] {
  const table = new WalkedTable('IPv4', kernel.contents('IPv4')!);
  return numbers.map((number) => {
    const packet = {
      family: 'IPv4',
      inputInterface: 'eth0',
      source: '203.0.113.5',
      destination: clusterIP(number),
      protocol: 'TCP',
      destinationPort: 80,
    } as const;
    return outcomeOf(table.walk(packet, { localAddresses: new Set() }));
  });
}

const outcome = (kernel: MemoryNftTransport, number: number) => outcomes(kernel, [number])[0]!;

/** Elements of the frontend of a service, in all sets. */
function elementsOf(kernel: MemoryNftTransport, number: number): readonly string[] {
  return [...kernel.contents('IPv4')!.sets].flatMap(([name, { elements }]) =>
    [...elements.keys()]
      .filter((key) => key.startsWith(`${clusterIP(number)} `))
      .map((key) => `${name} ${key}`),
  );
}

const to = (number: number, generation = 0) => ({
  to: [`${endpoint(number, generation)}:8080`],
  masquerade: true,
});
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
const keyOf = (number: number) => `ns/service-${number}/tcp/`;

/** Refuses every element that belongs to one service's frontend. */
function refuseService(kernel: MemoryNftTransport, number: number, blame: Blame): () => void {
  return kernel.refuse(
    ({ op }, element) =>
      op === 'add-elements' && element?.key.startsWith(`${clusterIP(number)} `) ? 'EINVAL' : undefined,
    blame,
  );
}

describe.each<Blame>(['element', 'operation', 'nothing'])(
  'a service that the kernel rejects, blaming %s',
  (blame) => {
    const bad = 5;
    let kernel: MemoryNftTransport;
    let proxy: InMemoryProxy;
    beforeEach(() => {
      kernel = new MemoryNftTransport();
      proxy = proxyOn(kernel);
      for (let number = 1; number <= SERVICES; number++) applyService(proxy, number);
    });

    function expectOthers(generation = 0): void {
      const others = upTo(SERVICES).filter((number) => number !== bad);
      expect(outcomes(kernel, others)).toEqual(others.map((number) => to(number, generation)));
    }

    it('does not keep the others from a first start, is reported, and is programmed when it can be', async () => {
      const lift = refuseService(kernel, bad, blame);
      const [result] = await proxy.sync();
      expect(result!.failed).toMatchObject([{ key: keyOf(bad) }]);
      expect(proxy.statuses.failures('IPv4')).toEqual([
        {
          servicePort: keyOf(bad),
          reason: expect.stringContaining('EINVAL') as string,
          sinceTime: '1970-01-01T00:00:00.000Z',
        },
      ]);
      expectOthers();
      expect(outcome(kernel, bad)).toBe('untouched');
      lift();
      proxy.families.get('IPv4')!.pending.serviceChanged(`ns/service-${bad}`);
      expect((await proxy.sync())[0]!.failed).toEqual([]);
      expect(proxy.statuses.failures('IPv4')).toEqual([]);
      expect(outcome(kernel, bad)).toEqual(to(bad));
      expectOthers();
    });

    it.each([
      ['this process wrote', () => proxy],
      ['an earlier process wrote', () => proxyOn(kernel)],
    ])('keeps the rules that %s when a change of it is refused', async (_, next) => {
      await proxy.sync();
      const changing = next();
      for (let number = 1; number <= SERVICES; number++) applyService(changing, number, 1);
      const lift = refuseService(kernel, bad, blame);
      expect((await changing.sync())[0]!.failed).toMatchObject([{ key: keyOf(bad) }]);
      expectOthers(1);
      expect(outcome(kernel, bad)).toEqual(to(bad));
      // What is in memory is what the kernel has: nothing is left to repair.
      kernel.bystanderCommits();
      expect(await changing.verify('quick')).toBe(0);
      lift();
      changing.families.get('IPv4')!.pending.serviceChanged(`ns/service-${bad}`);
      expect((await changing.sync())[0]!.failed).toEqual([]);
      expect(outcome(kernel, bad)).toEqual(to(bad, 1));
    });

    it('does not keep the others from being repaired', async () => {
      await proxy.sync();
      refuseService(kernel, bad, blame);
      kernel.tamper('IPv4', [{ op: 'delete-table' }]);
      const { failed } = await proxy.families.get('IPv4')!.backend.verify('quick');
      expect(failed.map(({ key }) => key)).toEqual([keyOf(bad)]);
      expectOthers();
    });

    it('keeps what another program left of it, and no other service is disturbed', async () => {
      await proxy.sync();
      refuseService(kernel, bad, blame);
      const { endpoints } = setsOf(BY_ADDRESS);
      const elements = [...kernel.contents('IPv4')!.sets.get(endpoints.name)!.elements.values()].filter(
        ({ key }) => [clusterIP(bad), clusterIP(bad + 1)].some((address) => key.startsWith(`${address} `)),
      );
      kernel.tamper('IPv4', [{ op: 'delete-elements', set: endpoints, elements }]);
      const left = elementsOf(kernel, bad);
      kernel.resetCounts();
      const { failed } = await proxy.families.get('IPv4')!.backend.verify('quick');
      expect(failed.map(({ key }) => key)).toEqual([keyOf(bad)]);
      expectOthers();
      const touched = kernel.commits.flatMap(({ operations }) =>
        operations.flatMap((operation) => ('elements' in operation ? operation.elements : [])),
      );
      expect(touched.length).toBeLessThanOrEqual(12);
      expect(left.length).toBeGreaterThan(0);
      expect(elementsOf(kernel, bad)).toEqual(left);
    });
  },
);

it('a service that cannot be compiled keeps what an earlier process wrote for it', async () => {
  const kernel = new MemoryNftTransport();
  const proxy = proxyOn(kernel);
  for (const number of [1, 2, 3]) applyService(proxy, number);
  await proxy.sync();
  const restarted = proxyOn(kernel, (entry) => {
    if (entry.key === keyOf(2)) throw new Error('no rules for this one');
    return compileNftables(entry);
  });
  for (const number of [1, 2]) applyService(restarted, number, 1);
  expect((await restarted.sync())[0]!.failed).toMatchObject([{ key: keyOf(2) }]);
  expect(outcomes(kernel, [1, 2, 3])).toEqual([to(1, 1), to(2), 'untouched']);
  restarted.events.deleted('Service', { namespace: 'ns', name: 'service-2' });
  await restarted.sync();
  expect(outcome(kernel, 2)).toBe('untouched');
});

describe('a kernel that is out of order', () => {
  it.each(['commit', 'start'])('has everything again after it was mended (%s)', async (when) => {
    const kernel = new MemoryNftTransport();
    const proxy = proxyOn(kernel);
    for (let number = 1; number <= 5; number++) applyService(proxy, number);
    if (when === 'commit') await proxy.sync();
    const restore = kernel.outage(new Error('no permission'));
    for (let number = 1; number <= 5; number++) applyService(proxy, number, 1);
    await expect(proxy.sync()).rejects.toThrow('no permission');
    await expect(proxy.sync()).rejects.toThrow('no permission');
    restore();
    expect((await proxy.sync())[0]).toMatchObject({ full: true, failed: [] });
    expect(outcomes(kernel, upTo(5))).toEqual(upTo(5).map((number) => to(number, 1)));
  });
});

describe('a table that another program changes', () => {
  let kernel: MemoryNftTransport;
  let proxy: InMemoryProxy;
  let sound: string;
  beforeEach(async () => {
    kernel = new MemoryNftTransport();
    proxy = proxyOn(kernel);
    for (let number = 1; number <= 5; number++) applyService(proxy, number);
    await proxy.sync();
    sound = kernel.dump('IPv4');
    kernel.resetCounts();
  });

  it('is left alone if no program changed it, or if one changed another table', async () => {
    expect(await proxy.verify('quick')).toBe(0);
    kernel.bystanderCommits();
    expect(await proxy.verify('quick')).toBe(0);
    expect(kernel.commits).toEqual([]);
  });

  it('is written again when it was deleted', async () => {
    kernel.tamper('IPv4', [{ op: 'delete-table' }]);
    expect(await proxy.verify('quick')).toBeGreaterThan(0);
    expect(kernel.dump('IPv4')).toBe(sound);
    expect(await proxy.verify('quick')).toBe(0);
  });

  it('is written again by the next change when that comes first', async () => {
    kernel.tamper('IPv4', [{ op: 'delete-table' }]);
    applyService(proxy, 1);
    applyService(proxy, 6);
    expect((await proxy.sync())[0]!.failed).toEqual([]);
    expect(outcomes(kernel, upTo(6))).toEqual(upTo(6).map((number) => to(number)));
  });

  const { endpoints, frontends, classes } = setsOf(BY_ADDRESS);
  const first = (set: SetDefinition, prefix = '') => {
    const [element] = [...kernel.contents('IPv4')!.sets.get(set.name)!.elements.values()].filter(({ key }) =>
      key.startsWith(prefix),
    );
    return element!;
  };
  const change = (
    op: 'add-elements' | 'delete-elements',
    set: SetDefinition,
    element: { key: string; value?: string },
  ) => ({ op, set, elements: [element] }) as const;

  it.each<[string, () => Operation[], number]>([
    ['an element of a map is gone', () => [change('delete-elements', endpoints, first(endpoints))], 1],
    ['a frontend is gone', () => [change('delete-elements', frontends, first(frontends))], 1],
    [
      'an element of a map has another value',
      () => {
        const { key } = first(endpoints);
        return [
          change('delete-elements', endpoints, { key }),
          change('add-elements', endpoints, { key, value: '192.0.2.66 . 66' }),
        ];
      },
      2,
    ],
    [
      'a stranger stands in a map',
      () => [
        change('add-elements', frontends, { key: '192.0.2.66 . tcp . 66', value: first(frontends).value! }),
      ],
      1,
    ],
    ['a class leads nowhere', () => [change('delete-elements', classes, first(classes))], 1],
    [
      'a class leads elsewhere',
      () => [
        { op: 'add-chain', chain: { name: 'elsewhere' } },
        change('add-elements', classes, { key: 'ffff:fffe', value: 'goto elsewhere' }),
      ],
      2,
    ],
    ['a rule more', () => [{ op: 'add-rule', chain: 'masquerading', rule: rule([DROP]) }], 1 + 3],
    ['the rules of a chain are gone', () => [{ op: 'flush-chain', chain: 'cluster-ips-check' }], 1],
    ['a hook is gone', () => [{ op: 'delete-chain', chain: 'nat-prerouting' }], 2],
    ['a chain more', () => [{ op: 'add-chain', chain: { name: 'strange' } }], 1],
    [
      'a hook more',
      () => [
        { op: 'add-chain', chain: { name: 'strange', hook: { type: 'filter', hook: 'input', priority: 5 } } },
        { op: 'add-rule', chain: 'strange', rule: rule([DROP]) },
      ],
      2,
    ],
    [
      'a set more, and a chain that looks into it',
      () => [
        { op: 'add-set', set: { name: 'strange-set', key: ['address'] } },
        { op: 'add-chain', chain: { name: 'strange' } },
        {
          op: 'add-rule',
          chain: 'strange',
          rule: rule([new RuleParts('IPv4').member(['saddr'], 'strange-set'), DROP]),
        },
      ],
      3,
    ],
    [
      'a verdict map more that leads to a chain more',
      () => {
        const set: SetDefinition = { name: 'strange-map', key: ['priority'], value: 'verdict' };
        return [
          { op: 'add-set', set },
          { op: 'add-chain', chain: { name: 'strange' } },
          change('add-elements', set, { key: '1:1', value: 'goto strange' }),
        ];
      },
      2,
    ],
  ])('is repaired with no more than it takes when %s', async (_, damage, operations) => {
    kernel.tamper('IPv4', damage());
    expect(kernel.dump('IPv4')).not.toBe(sound);
    expect(await proxy.verify('quick')).toBe(operations);
    expect(kernel.dump('IPv4')).toBe(sound);
    expect(kernel.operationCount).toBe(operations);
    expect(kernel.refusedCount).toBe(0);
    expect(await proxy.verify('quick')).toBe(0);
    expect(kernel.operationCount).toBe(operations);
  });
});

describe("kube-proxy's own table in place", () => {
  const serviceIPs: SetDefinition = {
    name: 'service-ips',
    key: ['address', 'protocol', 'port'],
    value: 'verdict',
  };
  const nodePorts: SetDefinition = { name: 'service-nodeports', key: ['protocol', 'port'], value: 'verdict' };
  const theirs: Operation[] = [
    { op: 'add-table', comment: 'rules for kube-proxy' },
    { op: 'add-set', set: { name: 'cluster-ips', key: ['address'] } },
    { op: 'add-set', set: serviceIPs },
    { op: 'add-set', set: nodePorts },
    {
      op: 'add-set',
      set: { name: 'affinity-ABCDEFGH-ns/a/tcp/__10.0.0.1/80', key: ['address'], dynamicSize: 65535 },
    },
    {
      op: 'add-chain',
      chain: { name: 'nat-prerouting', hook: { type: 'nat', hook: 'prerouting', priority: -100 } },
    },
    { op: 'add-chain', chain: { name: 'services' } },
    { op: 'add-chain', chain: { name: 'service-ABCDEFGH-ns/a/tcp/' } },
    { op: 'add-rule', chain: 'nat-prerouting', rule: rule([leadTo('jump', 'services')]) },
    {
      op: 'add-elements',
      set: serviceIPs,
      elements: [{ key: '172.30.1.1 . tcp . 80', value: 'goto service-ABCDEFGH-ns/a/tcp/' }],
    },
  ];

  it('is replaced in one transaction, and nothing of it stays', async () => {
    const kernel = new MemoryNftTransport();
    kernel.tamper('IPv4', theirs);
    const proxy = proxyOn(kernel);
    for (let number = 1; number <= 5; number++) applyService(proxy, number);
    await proxy.sync();
    expect(kernel.commits).toHaveLength(1);
    expect(kernel.refusedCount).toBe(0);
    expect(outcomes(kernel, upTo(5))).toEqual(upTo(5).map((number) => to(number)));
    expect(kernel.dump('IPv4')).not.toContain('ABCDEFGH');
  });

  it('is not taken for ours where our elements of long ago are still in it', async () => {
    const kernel = new MemoryNftTransport();
    const former = proxyOn(kernel);
    applyService(former, 1);
    await former.sync();
    kernel.tamper('IPv4', theirs);
    kernel.resetCounts();
    const proxy = proxyOn(kernel, (entry) => {
      if (entry.key === keyOf(1)) throw new Error('no rules for this one');
      return compileNftables(entry);
    });
    for (const number of [1, 2]) applyService(proxy, number, 1);
    await proxy.sync();
    expect(kernel.commits).toHaveLength(1);
    expect(outcomes(kernel, [1, 2])).toEqual(['untouched', to(2, 1)]);
    expect(kernel.dump('IPv4')).not.toContain('ABCDEFGH');
  });
});

describe('leftovers', () => {
  it('still wait when a verification was interrupted', async () => {
    const kernel = new MemoryNftTransport();
    const proxy = proxyOn(kernel);
    applyService(proxy, 1);
    await proxy.sync();
    proxy.events.deleted('Service', { namespace: 'ns', name: 'service-1' });
    await proxy.sync();
    const { backend } = proxy.families.get('IPv4')!;
    kernel.bystanderCommits();
    await expect(backend.verify('quick', AbortSignal.abort(new Error('a change came')))).rejects.toThrow(
      'a change',
    );
    await proxy.verify('quick');
    expect(kernel.contents('IPv4')!.chains.has('pick-1')).toBe(false);
  });

  it('of our own are not a sign that another program changed the table', async () => {
    const kernel = new MemoryNftTransport();
    const proxy = proxyOn(kernel);
    applyService(proxy, 1);
    await proxy.sync();
    proxy.events.deleted('Service', { namespace: 'ns', name: 'service-1' });
    await proxy.sync();
    expect(kernel.contents('IPv4')!.chains.has('pick-1')).toBe(true);
    kernel.bystanderCommits();
    expect(await proxy.verify('quick')).toBe(0);
    expect(kernel.contents('IPv4')!.chains.has('pick-1')).toBe(false);
  });

  it('that cannot be deleted are counted', async () => {
    const kernel = new MemoryNftTransport();
    const failures: string[] = [];
    const observer = { cleanupFailed: (family: string) => void failures.push(family) };
    const generations = new GenerationWatch(kernel);
    const backend = nftablesBackend('IPv4', kernel, generations, new MemoryLogger(), { observer });
    const proxy = new InMemoryProxy([backend], SETTINGS, () => ['198.51.100.11']);
    applyService(proxy, 1);
    await proxy.sync();
    proxy.events.deleted('Service', { namespace: 'ns', name: 'service-1' });
    await proxy.sync();
    const lift = kernel.refuse(({ op }) => (op === 'delete-chain' ? 'EBUSY' : undefined), 'operation');
    await proxy.verify('quick');
    expect(failures).toEqual(['IPv4']);
    lift();
    kernel.bystanderCommits();
    await proxy.verify('full');
    expect(failures).toHaveLength(1);
    expect(kernel.contents('IPv4')!.chains.has('pick-1')).toBe(false);
  });

  /** Frees a class (two endpoints) and uses it again, while the change that freed it is refused. */
  it.each<Blame>(['element', 'nothing'])(
    'of refused changes do not outlive a verification (%s)',
    async (blame) => {
      const kernel = new MemoryNftTransport();
      const proxy = proxyOn(kernel);
      const slice = (number: number, endpoints: number) => {
        proxy.events.applied('EndpointSlice', {
          metadata: {
            namespace: 'ns',
            name: `service-${number}`,
            labels: { 'kubernetes.io/service-name': `service-${number}` },
          },
          addressType: 'IPv4',
          ports: [{ name: '', port: 8080 }],
          endpoints: Array.from({ length: endpoints }, (_, at) => ({ addresses: [`10.244.9.${at + 1}`] })),
        });
      };
      for (let number = 1; number <= 4; number++) applyService(proxy, number);
      slice(1, 2);
      slice(2, 4);
      await proxy.sync();
      const lift = refuseService(kernel, 1, blame);
      slice(1, 3);
      slice(2, 1);
      expect((await proxy.sync())[0]!.failed).toMatchObject([{ key: keyOf(1) }]);
      expect(outcome(kernel, 1)).toMatchObject({ to: ['10.244.9.1:8080', '10.244.9.2:8080'] });
      kernel.resetCounts();
      await proxy.verify('full');
      expect(kernel.refusedCount).toBe(0);
      lift();
      slice(1, 5);
      await proxy.sync();
      await proxy.verify('full');
      expect(kernel.refusedCount).toBe(0);
      const chains = [...kernel.contents('IPv4')!.chains.keys()].filter((name) => name.startsWith('pick-'));
      expect(chains.sort()).toEqual(['pick-1', 'pick-5']);
    },
  );
});
