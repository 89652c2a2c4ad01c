import type { EntryToMake } from '../support/traffic/conntrack-entries.js';
import { DriverBundle, Namespace, type Driver } from '../support/program/in-namespace.js';
import type { ConntrackDriver, HeardFlow } from './conntrack/driver.js';

const tcp: EntryToMake = {
  protocol: 6,
  source: '10.0.0.1',
  sourcePort: 1000,
  destination: '10.96.0.10',
  destinationPort: 80,
  endpoint: '10.244.1.5',
  endpointPort: 8080,
};
const udp6: EntryToMake = {
  ...tcp,
  protocol: 17,
  source: 'fd00::1',
  destination: 'fd00::10',
  endpoint: 'fd00:0:0:1::5',
};

let bundle: DriverBundle<ConntrackDriver>;
let namespace: Namespace;
let driver: Driver<ConntrackDriver>;

beforeAll(async () => {
  bundle = await DriverBundle.make<ConntrackDriver>(new URL('./conntrack/driver.ts', import.meta.url));
});
afterAll(() => bundle.remove());
beforeEach(async () => {
  namespace = await Namespace.open('cte');
  driver = namespace.drive(bundle);
});
afterEach(() => namespace.close());

const idsOf = (flows: readonly HeardFlow[]): readonly number[] =>
  flows.map(({ id }) => id).sort((a, b) => a - b);

it('tells of both families what begins and ends, and finds the same connections', async () => {
  await driver.ask('hear', 0);
  await driver.ask('make', [tcp, udp6]);
  const { told, lost } = await driver.ask('heard');
  expect([lost, told.changed, told.ceased]).toEqual([false, [], []]);
  expect(told.began).toEqual([
    expect.objectContaining({
      family: 'IPv4',
      protocol: 'TCP',
      destination: '10.96.0.10',
      destinationPort: 80,
      replySource: '10.244.1.5:8080',
      replied: true,
      closed: false,
    }),
    expect.objectContaining({
      family: 'IPv6',
      protocol: 'UDP',
      destination: 'fd00::10',
      replySource: '[fd00:0:0:1::5]:8080',
    }),
  ]);
  expect(idsOf(await driver.ask('walk'))).toEqual(idsOf(told.began));
  await driver.ask('remove', [tcp]);
  expect(idsOf((await driver.ask('heard')).told.ceased)).toEqual([told.began[0]!.id]);
});

it('the kernel samples: the same connections are told and found, about one in eight', async () => {
  const count = 4_000;
  await driver.ask('hear', 3);
  await driver.ask('makeMany', count, tcp);
  const ipv6 = Array.from({ length: 400 }, (_, i) => ({ ...udp6, sourcePort: 2_000 + i }));
  await driver.ask('make', ipv6);
  const { began } = (await driver.ask('heard')).told;
  expect(Math.abs(began.length * 8 - count - ipv6.length)).toBeLessThan(count / 5);
  expect(idsOf(await driver.ask('walk'))).toEqual(idsOf(began));
});

it('says that events were lost when nobody reads them, and tells the next ones', async () => {
  await driver.ask('hear', 0);
  await driver.ask('makeMany', 30_000, tcp);
  const { told, lost } = await driver.ask('heard');
  expect(lost).toBe(true);
  expect(told.began.length).toBeGreaterThan(1_000);
  expect(told.began.length).toBeLessThan(30_000);
  await driver.ask('make', [{ ...tcp, source: '10.0.0.2' }]);
  expect(await driver.ask('heard')).toMatchObject({ lost: false, told: { began: [{ replied: true }] } });
});
