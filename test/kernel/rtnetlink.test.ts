import { DriverBundle, Namespace, type Driver } from '../support/program/in-namespace.js';
import type { AddressesDriver } from './rtnetlink/driver.js';
import { until } from '../support/until.js';

let bundle: DriverBundle<AddressesDriver>;
let namespace: Namespace;
let driver: Driver<AddressesDriver>;

beforeAll(async () => {
  bundle = await DriverBundle.make<AddressesDriver>(new URL('./rtnetlink/driver.ts', import.meta.url));
});
afterAll(() => bundle.remove());
beforeEach(async () => {
  namespace = await Namespace.open('rtnl');
  await batch(
    // No carrier, since the other end is down; wholly down; and the device of service addresses.
    'link add eth7 type veth peer name eth7p',
    'link set eth7 up',
    'addr add 192.0.2.11/24 dev eth7',
    'addr add 2001:db8::11/64 dev eth7',
    'link add eth8 type veth peer name eth8p',
    'addr add 169.254.77.1/30 dev eth8',
    'addr add 10.1.1.1 peer 10.1.1.2 dev eth8',
    'addr add 10.9.9.9/32 dev lo',
    'link add kube-ipvs0 type veth peer name other0',
    'addr add 10.96.0.1/32 dev kube-ipvs0',
    'addr add 192.0.2.11/32 dev kube-ipvs0',
  );
  driver = namespace.drive(bundle);
});
afterEach(() => namespace.close());

const batch = (...commands: readonly string[]): Promise<string> =>
  namespace.run(['ip', '-batch', '-'], `${commands.join('\n')}\n`);
/** A hundred times what it takes at most where nothing else runs. */
const SOON = 10_000;
const ALL = ['10.1.1.1', '10.9.9.9', '127.0.0.1', '169.254.77.1', '192.0.2.11', '2001:db8::11', '::1'];

describe('the addresses of this node over netlink', () => {
  it('are those of all interfaces, with a carrier or without, up or down, but for service addresses', async () => {
    expect(await namespace.run(['ip', 'link', 'show', 'eth7'])).toContain('NO-CARRIER');
    expect(await driver.ask('list')).toEqual(ALL);
  });

  it('are reported soon when they come or go, without reading them again', async () => {
    await driver.ask('list');
    await driver.ask('follow');
    for (const [verb, left] of [
      ['add', [...ALL, '192.0.2.12'].sort()],
      ['delete', ALL],
    ] as const) {
      const before = Date.now();
      await batch(`addr ${verb} 192.0.2.12/24 dev eth7`);
      let told: readonly number[] = [];
      await until('it is told', async () => (told = await driver.ask('told')).length > 0);
      expect(told[0]! - before).toBeLessThan(SOON);
      expect(await driver.ask('list')).toEqual(left);
    }
    expect(await driver.ask('dumps')).toBe(1);
    await batch('link delete eth7');
    await until('it is told', async () => (await driver.ask('told')).length > 0);
    expect(await driver.ask('list')).toEqual(ALL.filter((address) => !/192|2001/.test(address)));
  });

  it('stay when the same address with another prefix goes', async () => {
    await batch('addr add 192.0.2.11/32 dev eth7', 'addr add 10.1.1.1 peer 10.1.1.3 dev eth8');
    expect(await driver.ask('list')).toEqual(ALL);
    await batch('addr delete 192.0.2.11/32 dev eth7', 'addr delete 10.1.1.1 peer 10.1.1.3 dev eth8');
    expect(await driver.ask('list')).toEqual(ALL);
  });

  it('are not told when those of services change, also on a new device, nor link-local ones', async () => {
    await driver.ask('list');
    await driver.ask('follow');
    await batch('addr add 10.96.0.2/32 dev kube-ipvs0', 'addr delete 10.96.0.1/32 dev kube-ipvs0');
    await batch('link delete kube-ipvs0', 'link add kube-ipvs0 type veth peer name other0');
    await batch('addr add 10.96.0.3/32 dev kube-ipvs0', 'addr add fe80::7/64 dev eth7');
    expect(await driver.ask('list')).toEqual([...ALL, 'fe80::7'].sort());
    await new Promise((done) => setTimeout(done, 300));
    expect(await driver.ask('told')).toEqual([]);
  });

  it('are read again if notifications were lost', async () => {
    await driver.ask('list');
    const many = Array.from({ length: 100 }, (_, i) => `10.97.0.${i}`);
    await batch(...many.map((address) => `addr add ${address}/32 dev eth8`));
    expect(await driver.ask('list')).toEqual([...ALL, ...many].sort());
    expect(await driver.ask('dumps')).toBe(2);
  });
});

it('the proxy of mode userspace may be reached where there is no carrier, but not at an interface that is down', async () => {
  const found = await driver.ask('hostAddresses');
  expect(found.map(({ text, interfaceName }) => `${text} ${interfaceName}`).sort()).toEqual([
    '10.9.9.9 lo',
    '127.0.0.1 lo',
    '192.0.2.11 eth7',
    '2001:db8::11 eth7',
    '::1 lo',
  ]);
});
