import { comparableTables } from '../support/recorded/comparable-tables.js';
import { sampleOf } from '../support/nightly.js';
import { iptablesVariants, NodeIptables } from '../support/testbed/iptables-node.js';
import {
  serviceObjects,
  testNode,
  testServiceCidr,
  type TestService,
} from '../support/testbed/cluster-objects.js';
import { Host } from '../support/testbed/host.js';
import { DriverBundle, Namespace, type Driver } from '../support/program/in-namespace.js';
import type { PoisonDriver } from './poison/driver.js';
import type { Poison, Way } from './poison/poison.js';
import { contentsOf, readTable } from '../support/testbed/ruleset.js';
import { until } from '../support/until.js';

const count = 120;
/** The services that are poisoned, each in its own way. */
const poisons = new Map<number, Poison>([
  [25, 'rules that are refused'],
  [60, 'rules that cannot be read'],
  [95, 'a compiler that gives up'],
]);
const bad = [...poisons.keys()];

/** How to look at what a way has written on a node. */
interface View {
  /** All endpoints, as `address:port`. */
  endpoints(node: Host): Promise<readonly string[]>;
  /** All that there is, such that equal rules are equal. */
  contents(node: Host): Promise<object>;
}

const nftablesView: View = {
  async endpoints(node) {
    const { elements = [] } = (await readTable(node)).get('map endpoints') ?? {};
    return elements.map((element) => element.split(' : ')[1]!.replace(' . ', ':'));
  },
  contents: async (node) => contentsOf(await readTable(node)),
};

const iptablesView = (variant: (typeof iptablesVariants)[number]): View => ({
  async endpoints(node) {
    const chains = [...(await new NodeIptables(node, variant).rules('IPv4')).values()];
    return chains.flatMap((rules) =>
      rules.flatMap((rule) => / --to-destination (\S+)$/.exec(rule)?.[1] ?? []),
    );
  },
  contents: async (node) => comparableTables(await new NodeIptables(node, variant).saved('IPv4')),
});

const ways: readonly { readonly name: string; readonly way: Way; readonly view: View }[] = [
  { name: 'nftables', way: 'nftables', view: nftablesView },
  ...sampleOf(iptablesVariants).map((way) => ({ name: `iptables-${way}`, way, view: iptablesView(way) })),
];

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
function endpoint(number: number, generation: number): string {
  return `${service(number, generation).endpoints[0]}:${8000 + generation}`;
}

/** Several rounds with some fifty writes each: on a busy machine they take their time. */
const MANY_TRIES = 100_000;

let bundle: DriverBundle<PoisonDriver>;
beforeAll(async () => {
  bundle = await DriverBundle.make<PoisonDriver>(new URL('./poison/driver.ts', import.meta.url));
});
afterAll(() => bundle.remove());

describe.each(ways)(`poisoned services among ${count}, with $name`, ({ way, view }) => {
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
    proxy.ask('start', way, [testNode, testServiceCidr, ...services] as never);
  const apply = (...changed: readonly object[]): Promise<void> => proxy.ask('apply', changed as never);

  /** Waits until the kernel has exactly these endpoints and the proxy is at rest. */
  async function programmed(expected: readonly string[], timeoutMs?: number): Promise<void> {
    const atRest = async (): Promise<boolean> => {
      // Asked first, since the kernel's answer takes long.
      if (!(await proxy.ask('settled'))) return false;
      expect([...(await view.endpoints(node))].sort()).toEqual([...expected].sort());
      return true;
    };
    await until('the kernel has these endpoints, and the proxy is at rest', atRest, timeoutMs);
  }

  /** What a proxy leaves that never met any poison. */
  async function asIfNothingHadBeen(generation: number): Promise<object> {
    const fresh = await Namespace.open('good');
    try {
      const driver = fresh.drive(bundle);
      await driver.ask('start', way, [testNode, testServiceCidr, ...objects(generation)] as never);
      await until('it is programmed', () => driver.ask('settled'));
      return await view.contents(new Host(fresh.name));
    } finally {
      await fresh.close();
    }
  }

  async function poison(): Promise<void> {
    for (const [number, what] of poisons) await proxy.ask('poison', keyOf(number), what);
  }

  async function failed(): Promise<readonly string[]> {
    return (await proxy.ask('failures')).map(({ servicePort }) => servicePort).sort();
  }

  it('by a change keep their last good rules, are named, and follow when they are well', async () => {
    await start(...objects(1));
    await programmed(numbers.map((number) => endpoint(number, 1)));
    await poison();
    await apply(...objects(2));
    const kept = bad.map((number) => endpoint(number, 1));
    await programmed([...kept, ...others.map((number) => endpoint(number, 2))]);
    await until('they are named', async () => (await failed()).length > 0);
    expect(await failed()).toEqual(bad.map(keyOf));
    const rejected = (await proxy.ask('log')).filter(({ message }) =>
      message.startsWith('cannot program the service port'),
    );
    const named = rejected.flatMap(({ facts }) => facts.service ?? []);
    expect(new Set(named)).toEqual(new Set(bad.map(keyOf)));
    const metrics = await proxy.ask('metrics');
    expect(metrics).toContain(`kube_proxy_ts_service_ports{ip_family="IPv4",state="failed"} ${bad.length}\n`);

    // The others are followed all the while.
    await apply(...objects(3, [7]));
    await programmed([...kept, ...others.map((number) => endpoint(number, number === 7 ? 3 : 2))]);
    await apply(...objects(2, [7]));

    await proxy.ask('heal');
    await programmed(numbers.map((number) => endpoint(number, 2)));
    expect(await failed()).toEqual([]);
    expect(await proxy.ask('status', keyOf(bad[0]!))).toMatchObject({ state: 'programmed' });
    expect(await view.contents(node)).toEqual(await asIfNothingHadBeen(2));
  });

  it('at a restart keep what an earlier process wrote for them, and follow when they are well', async () => {
    await start(...objects(1));
    await programmed(numbers.map((number) => endpoint(number, 1)));
    await proxy.ask('stop');
    proxy = namespace.drive(bundle);
    await poison();
    await start(...objects(2));
    const kept = bad.map((number) => endpoint(number, 1));
    await programmed([...kept, ...others.map((number) => endpoint(number, 2))]);
    expect(await failed()).toEqual(bad.map(keyOf));
    await proxy.ask('heal');
    await programmed(numbers.map((number) => endpoint(number, 2)));
  });

  // The tools of both variants refuse alike, and nothing tells which service it is by any way: one for each backend will do.
  if (way === 'legacy') return;

  it('from the start are set aside and named, and are programmed once they are valid', async () => {
    await poison();
    await start(...objects(1));
    await programmed(others.map((number) => endpoint(number, 1)));
    expect(await failed()).toEqual(bad.map(keyOf));
    for (const { reason } of await proxy.ask('failures')) expect(reason).toMatch(/rejected|compiled/);
    expect(await proxy.ask('status', keyOf(1))).toMatchObject({ state: 'programmed' });

    await proxy.ask('heal');
    await programmed(numbers.map((number) => endpoint(number, 1)));
    expect(await failed()).toEqual([]);
  });

  it('are forgotten when they are deleted', async () => {
    await start(...objects(1));
    await programmed(numbers.map((number) => endpoint(number, 1)));
    await poison();
    await apply(...objects(2, bad));
    await until('they are named', async () => (await failed()).length === bad.length);
    for (const number of bad) await proxy.ask('delete', 'Service', `web-${number}`);
    await programmed(others.map((number) => endpoint(number, 1)));
    expect(await failed()).toEqual([]);
    expect(await proxy.ask('status', keyOf(bad[0]!))).toBeUndefined();
  });

  it(
    'are found though nothing tells which they are',
    async () => {
      await poison();
      await proxy.ask('start', way, [testNode, testServiceCidr, ...objects(1)] as never, true);
      await programmed(
        others.map((number) => endpoint(number, 1)),
        MANY_TRIES,
      );
      expect(await failed()).toEqual(bad.map(keyOf));
      await apply(...objects(2));
      await programmed(
        others.map((number) => endpoint(number, 2)),
        MANY_TRIES,
      );
      await proxy.ask('heal');
      await programmed(numbers.map((number) => endpoint(number, 2)));
      expect(await view.contents(node)).toEqual(await asIfNothingHadBeen(2));
    },
    3 * MANY_TRIES,
  );
});
