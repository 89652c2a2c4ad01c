import { Networks } from '../../model/addresses.js';

// The node of the test bed (testbed.ts), for those who compute what it does. Nothing of `src`: the model uses it, too.

/** All addresses of the node. */
export const localAddresses: ReadonlySet<string> = new Set([
  ...['10.244.1.1', '198.18.0.1', '169.254.77.1', '198.51.100.11', '127.0.0.1'],
  ...['fd00:10:244:1::1', '2001:db8:18::1', '2001:db8:77::1', '2001:db8:2::11', '::1'],
]);

/** Networks, and the address with which the node sends there; the first that contains a destination counts. */
const ROUTES = [
  ['10.244.1.0/24', '10.244.1.1'],
  ['198.18.0.0/24', '198.18.0.1'],
  ['10.9.9.9/32', '198.18.0.1'],
  ['203.0.113.5/32', '198.18.0.1'],
  ['192.168.7.7/32', '198.18.0.1'],
  ['10.244.2.200/32', '198.18.0.1'],
  ['198.51.100.0/24', '198.51.100.11'],
  ['0.0.0.0/0', '169.254.77.1'],
  ['fd00:10:244:1::/64', 'fd00:10:244:1::1'],
  ['2001:db8:18::/64', '2001:db8:18::1'],
  ['2001:db8:2::/64', '2001:db8:2::11'],
  ['::/0', '2001:db8:77::1'],
].map(([network, source]) => ({ network: new Networks([network!]), source: source! }));

/** By destination, those that were looked up before. */
const sources = new Map<string, string>([...localAddresses].map((address) => [address, address]));

/** The address that the node puts on packets to a destination, and that it masquerades with. */
export function ownAddressTowards(destination: string): string {
  let source = sources.get(destination);
  if (source === undefined) {
    source = ROUTES.find(({ network }) => network.has(destination))!.source;
    sources.set(destination, source);
  }
  return source;
}
