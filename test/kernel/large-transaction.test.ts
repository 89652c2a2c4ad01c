import type { IpFamily } from '../../src/domain/net/ip-family.js';
import { DriverBundle, Namespace } from '../support/program/in-namespace.js';
import type { NetlinkDriver } from './nftables-netlink/driver.js';

const ELEMENTS = 100_000;

let bundle: DriverBundle<NetlinkDriver>;
let namespace: Namespace;

beforeAll(async () => {
  bundle = await DriverBundle.make<NetlinkDriver>(new URL('./nftables-netlink/driver.ts', import.meta.url));
});
afterAll(() => bundle.remove());
beforeEach(async () => {
  namespace = await Namespace.open('large');
});
afterEach(() => namespace.close());

it.each<IpFamily>(['IPv4', 'IPv6'])(
  `${ELEMENTS} elements are committed at once and read back, and others have their turns meanwhile (%s)`,
  async (family) => {
    const speeds = await namespace.drive(bundle).ask('fill', family, ELEMENTS);
    expect(speeds).toMatchObject({ found: ELEMENTS, same: true });
    expect(speeds.reading.longest).toBeLessThan(speeds.reading.total / 4);
  },
);
