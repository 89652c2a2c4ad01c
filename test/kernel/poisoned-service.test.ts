import { serviceObjects, testNode, testServiceCidr, type TestService } from './cluster-objects.js';
import { Host } from './host.js';
import { DriverBundle, Namespace, type Driver } from './in-namespace.js';
import type { Poison, PoisonDriver } from './poison/driver.js';
import { transportNames } from './proxy-process.js';
import { contentsOf, readTable } from './ruleset.js';
import { until } from './until.js';

const count = 500;
/** The services that are poisoned, each in its own way. */
const poisons = new Map<number, Poison>([
  [100, 'a verdict without a chain'],
  [250, 'an address that is none'],
  [400, 'a compiler that gives up'],
]);
const bad = [...poisons.keys()];

/** A service with one endpoint, whose last number is that of a generation. */
function service(number: number, generation: number): TestService {
  const place = `${number >> 8}.${number & 255}`;
  return {
    name: `web-${number}`,
    clusterIP: `172.30.${place}`,
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8000 + generation }],
    endpoints: [`10.244.${place}`],
  };
}

const numbers = Array.from({ length: count }, (_, index) => index + 1);
const others = numbers.filter((number) => !bad.includes(number));
const keyOf = (number: number): string => `default/web-${number}/tcp/http`;
const objects = (generation: number, which = numbers): object[] =>
  which.flatMap((number) => serviceObjects(service(number, generation)));

/** The endpoint of a service as the kernel has it. */
function element(number: number, generation: number): string {
  const { clusterIP, endpoints } = service(number, generation);
  return `${clusterIP} . tcp . 80 . 8000:0 : ${endpoints[0]} . ${8000 + generation}`;
}

let bundle: DriverBundle<PoisonDriver>;
beforeAll(async () => {
  bundle = await DriverBundle.make<PoisonDriver>(new URL('./poison/driver.ts', import.meta.url));
});
afterAll(() => bundle.remove());

describe.each(transportNames)(`poisoned services among ${count}, over %s`, (transport) => {
  let namespace: Namespace;
  let node: Host;
  let proxy: Driver<PoisonDriver>;

  beforeEach(async () => {
    namespace = await Namespace.open('bad');
    node = new Host(namespace.name);
    proxy = namespace.drive(bundle);
  });
  afterEach(() => namespace.close());

  const start = (...services: readonly object[]): Promise<void> =>
    proxy.ask('start', transport, [testNode, testServiceCidr, ...services] as never);
  const apply = (...changed: readonly object[]): Promise<void> => proxy.ask('apply', changed as never);

  async function endpoints(): Promise<readonly string[]> {
    return (await readTable(node)).get('map endpoints')?.elements ?? [];
  }

  /** Waits until the kernel has exactly these endpoints and the proxy is at rest. */
  async function programmed(expected: readonly string[]): Promise<void> {
    await until('the kernel has these endpoints, and the proxy is at rest', async () => {
      expect(await endpoints()).toEqual([...expected].sort());
      return proxy.ask('settled');
    });
  }

  /** What a proxy leaves that never met any poison. */
  async function asIfNothingHadBeen(generation: number): Promise<object> {
    const fresh = await Namespace.open('good');
    try {
      const driver = fresh.drive(bundle);
      await driver.ask('start', transport, [testNode, testServiceCidr, ...objects(generation)] as never);
      await until('it is programmed', () => driver.ask('settled'));
      return contentsOf(await readTable(new Host(fresh.name)));
    } finally {
      await fresh.close();
    }
  }

  async function poison(): Promise<void> {
    for (const [number, what] of poisons) await proxy.ask('poison', keyOf(number), what);
  }

  async function failed(): Promise<readonly string[]> {
    return (await proxy.ask('failures')).map(({ key }) => key).sort();
  }

  it('from the start are left out and named, and follow when they are well', async () => {
    await poison();
    await start(...objects(1));
    await programmed(others.map((number) => element(number, 1)));
    expect(await failed()).toEqual(bad.map(keyOf));
    for (const { reason } of await proxy.ask('failures')) expect(reason).toMatch(/refused|compiled/);
    expect(await proxy.ask('status', keyOf(1))).toMatchObject({ state: 'programmed' });

    await proxy.ask('heal');
    await programmed(numbers.map((number) => element(number, 1)));
    expect(await failed()).toEqual([]);
  });

  it('by a change keep their last good rules, are named, and follow when they are well', async () => {
    await start(...objects(1));
    await programmed(numbers.map((number) => element(number, 1)));
    await poison();
    await apply(...objects(2));
    const kept = bad.map((number) => element(number, 1));
    await programmed([...kept, ...others.map((number) => element(number, 2))]);
    await until('they are named', async () => (await failed()).length > 0);
    expect(await failed()).toEqual(bad.map(keyOf));
    const errors = (await proxy.ask('log')).filter(({ level }) => level === 'error');
    expect(new Set(errors.map(({ facts }) => facts.service))).toEqual(new Set(bad.map(keyOf)));

    // The others are followed all the while.
    await apply(...objects(3, [7]));
    await programmed([...kept, ...others.map((number) => element(number, number === 7 ? 3 : 2))]);
    await apply(...objects(2, [7]));

    await proxy.ask('heal');
    await programmed(numbers.map((number) => element(number, 2)));
    expect(await failed()).toEqual([]);
    expect(await proxy.ask('status', keyOf(bad[0]!))).toMatchObject({ state: 'programmed' });
    expect(contentsOf(await readTable(node))).toEqual(await asIfNothingHadBeen(2));
  });

  it('are found though nothing tells which they are', async () => {
    await poison();
    await proxy.ask('start', transport, [testNode, testServiceCidr, ...objects(1)] as never, true);
    await programmed(others.map((number) => element(number, 1)));
    expect(await failed()).toEqual(bad.map(keyOf));
    await apply(...objects(2));
    await programmed(others.map((number) => element(number, 2)));
    await proxy.ask('heal');
    await programmed(numbers.map((number) => element(number, 2)));
    expect(contentsOf(await readTable(node))).toEqual(await asIfNothingHadBeen(2));
  });

  it('are forgotten when they are deleted', async () => {
    await start(...objects(1));
    await programmed(numbers.map((number) => element(number, 1)));
    await poison();
    await apply(...objects(2, bad));
    await until('they are named', async () => (await failed()).length === bad.length);
    for (const number of bad) await proxy.ask('delete', 'Service', `web-${number}`);
    await programmed(others.map((number) => element(number, 1)));
    expect(await failed()).toEqual([]);
    expect(await proxy.ask('status', keyOf(bad[0]!))).toBeUndefined();
  });
});
