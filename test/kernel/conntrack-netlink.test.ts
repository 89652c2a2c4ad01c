import type { FlowQuery } from '../../src/domain/conntrack/desired-flows.js';
import type { IpFamily } from '../../src/domain/net/ip-family.js';
import type { ConntrackDriver } from './conntrack/driver.js';
import type { EntryToMake } from '../support/traffic/conntrack-entries.js';
import { DriverBundle, Namespace, type Driver } from '../support/program/in-namespace.js';

const udp: EntryToMake = {
  protocol: 17,
  source: '10.0.0.1',
  sourcePort: 1000,
  destination: '10.96.0.10',
  destinationPort: 53,
  endpoint: '10.244.1.5',
  endpointPort: 5353,
};
const udp6: EntryToMake = { ...udp, source: 'fd00::1', destination: 'fd00::10', endpoint: 'fd00:0:0:1::5' };
const anyUdp: FlowQuery = { protocol: 'UDP', unreplied: false };
const replySource = '10.244.1.5:5353';

let bundle: DriverBundle<ConntrackDriver>;
let namespace: Namespace;
let driver: Driver<ConntrackDriver>;

beforeAll(async () => {
  bundle = await DriverBundle.make<ConntrackDriver>(new URL('./conntrack/driver.ts', import.meta.url));
});
afterAll(() => bundle.remove());
beforeEach(async () => {
  namespace = await Namespace.open('ct');
  driver = namespace.drive(bundle);
});
afterEach(() => namespace.close());

async function left(): Promise<string[]> {
  const listings = await Promise.all(
    ['ipv4', 'ipv6'].map((family) => namespace.run(['conntrack', '-L', '-f', family])),
  );
  return listings.join('\n').split('\n').filter(Boolean);
}

it('removes what is picked: of its own family, of UDP only, in every zone', async () => {
  await driver.ask('make', [
    udp,
    { ...udp, zone: 5 },
    { ...udp, protocol: 6 },
    { ...udp, sourcePort: 1001, endpoint: '10.244.1.6' },
    { ...udp, sourcePort: 1002, endpointPort: 53 },
    udp6,
  ]);
  const { examined, deleted, problem } = await driver.ask('sweep', 'IPv4', anyUdp, [replySource]);
  expect({ examined, deleted, problem }).toEqual({ examined: 4, deleted: 2, problem: undefined });
  const rest = await left();
  expect(rest).toHaveLength(4);
  expect(rest.filter((line) => line.includes('src=10.244.1.5') && line.includes('sport=5353'))).toEqual([
    expect.stringMatching(/^tcp/),
  ]);
});

it('finds IPv6 flows', async () => {
  await driver.ask('make', [udp6, { ...udp6, sourcePort: 1001, destination: 'fd00::11' }]);
  const query = { ...anyUdp, port: 53, address: 'fd00::10' };
  expect(await driver.ask('sweep', 'IPv6', query, ['[fd00:0:0:1::5]:5353'])).toMatchObject({ deleted: 2 });
  expect(await left()).toEqual([]);
});

it('has the kernel deliver only what was asked for', async () => {
  await driver.ask('make', [
    udp,
    { ...udp, sourcePort: 1001, destination: '10.96.0.11' },
    { ...udp, sourcePort: 1002, destinationPort: 54 },
    { ...udp, protocol: 6 },
    udp6,
    { ...udp6, destinationPort: 54, sourcePort: 1001 },
  ]);
  const examined = async (family: IpFamily, query: FlowQuery) =>
    (await driver.ask('sweep', family, query, [])).examined;
  expect(await examined('IPv4', anyUdp)).toBe(3);
  expect(await examined('IPv4', { ...anyUdp, port: 53 })).toBe(2);
  expect(await examined('IPv4', { ...anyUdp, port: 53, address: '10.96.0.11' })).toBe(1);
  expect(await examined('IPv4', { ...anyUdp, port: 55 })).toBe(0);
  expect(await examined('IPv6', { ...anyUdp, port: 53 })).toBe(1);
});

it.each(['IPv4', 'IPv6'] as const)('has the kernel deliver only unreplied ones: %s', async (family) => {
  const entry = { ...(family === 'IPv4' ? udp : udp6), protocol: 6 } as const;
  await driver.ask('make', [entry, { ...entry, sourcePort: 1001 }]);
  await driver.ask('make', [{ ...entry, sourcePort: 1002, unreplied: true }]);
  const opening: FlowQuery = { protocol: 'TCP', unreplied: true, port: 53 };
  expect((await driver.ask('sweep', family, opening, [])).examined).toBe(1);
  expect((await driver.ask('sweep', family, { ...opening, unreplied: false }, [])).examined).toBe(3);
});

it('spares a flow that restarted after it was examined', async () => {
  const successor = { ...udp, endpoint: '10.244.1.6' };
  await driver.ask('make', [udp]);
  expect(await driver.ask('sweepWhileReplaced', udp, successor)).toBe(0);
  expect(await left()).toEqual([expect.stringContaining('src=10.244.1.6')]);
});

it('removes tens of thousands in one sweep, in bounded memory, with turns for others', async () => {
  await driver.ask('makeMany', 40_000, udp);
  await driver.ask('make', [{ ...udp, sourcePort: 1, endpoint: '10.244.1.6' }]);
  const { deleted, problem, grownMb } = await driver.ask('sweep', 'IPv4', { ...anyUdp, port: 53 }, [
    replySource,
  ]);
  expect({ deleted, problem }).toEqual({ deleted: 40_000, problem: undefined });
  expect(grownMb).toBeLessThan(30);
  expect(await left()).toHaveLength(1);
});

it.each(['IPv4', 'IPv6'] as const)(
  'finds connections to endpoints, and tells what they did since the look before: %s',
  async (family) => {
    const entry = { ...(family === 'IPv4' ? udp : udp6), protocol: 6 } as const;
    const other = family === 'IPv4' ? '10.244.1.6' : 'fd00:0:0:1::6';
    await driver.ask('make', [
      entry,
      { ...entry, sourcePort: 1001 },
      { ...entry, sourcePort: 1002, unreplied: true },
      { ...entry, sourcePort: 1003, endpointPort: 5354 },
      { ...entry, sourcePort: 1004, endpoint: other },
      { ...entry, sourcePort: 1005, protocol: 17 },
    ]);
    const { endpoint, endpointPort } = entry;
    const places = [{ address: endpoint, port: endpointPort }];
    const quiet = { sent: false, answered: false, unacknowledged: false };
    // The kernel compares no addresses of IPv6.
    const found = family === 'IPv4' ? 2 : 3;
    expect(await driver.ask('lookAt', family, places, 2)).toMatchObject({
      ...{ examined: found, found, deleted: found },
      looks: Array(2).fill(Array(found).fill(quiet)),
    });
    expect(await driver.ask('lookAt', family, [{}], 1)).toMatchObject({ found: 4 - found });
    expect(await left()).toHaveLength(2);
  },
);

it('looks at thousands in one go', async () => {
  await driver.ask('makeMany', 20_000, { ...udp, protocol: 6, endpoint: '10.244.1.6' });
  await driver.ask('makeMany', 5_000, { ...udp, protocol: 6 }, 20_000);
  const place = { address: udp.endpoint, port: udp.endpointPort };
  const looking = await driver.ask('lookAt', 'IPv4', [place], 2);
  expect(looking).toMatchObject({ examined: 5_000, found: 5_000, deleted: 5_000 });
  expect(await left()).toHaveLength(20_000);
});
