import { getOrMake } from '../../../src/domain/model/maps.js';
import type { NodeSettings } from '../../../src/application/node/node-contexts.js';
import { parseCommandLine } from '../../../src/bootstrap/configuration/command-line.js';
import { withMode } from '../../../src/bootstrap/configuration/proxy-configuration.js';
import { nodeSettings } from '../../../src/bootstrap/this-node.js';
import { cidrContains, parseCidr } from '../../../src/domain/net/cidr.js';

/** The recorded scenarios' test bed (test/support/testbed/testbed.ts) as the walk sees it: addresses, interfaces and routes. */

export interface Client {
  /** Undefined: the node itself. */
  readonly inputInterface: string | undefined;
  readonly source: { readonly ipv4?: string; readonly ipv6?: string };
}

export const clients: Readonly<Record<string, Client>> = {
  pod: { inputInterface: 'vethpod1', source: { ipv4: '10.244.1.200', ipv6: 'fd00:10:244:1::200' } },
  node: { inputInterface: undefined, source: {} },
  ext: { inputInterface: 'ext0', source: { ipv4: '198.18.0.50', ipv6: '2001:db8:18::50' } },
  ext10: { inputInterface: 'ext0', source: { ipv4: '10.9.9.9' } },
  ext203: { inputInterface: 'ext0', source: { ipv4: '203.0.113.5' } },
  ext192: { inputInterface: 'ext0', source: { ipv4: '192.168.7.7' } },
  farpod: { inputInterface: 'ext0', source: { ipv4: '10.244.2.200' } },
};

export const localAddresses: ReadonlySet<string> = new Set([
  '10.244.1.1',
  '198.18.0.1',
  '169.254.77.1',
  '198.51.100.11',
  '127.0.0.1',
  'fd00:10:244:1::1',
  '2001:db8:18::1',
  '2001:db8:77::1',
  '2001:db8:2::11',
  '::1',
]);

/** Network and the address with which the node sends there; the first that contains a destination counts. */
const routes = (
  [
    ['10.244.1.0/24', '10.244.1.1'],
    ['198.18.0.0/24', '198.18.0.1'],
    ...['10.9.9.9', '203.0.113.5', '192.168.7.7', '10.244.2.200'].map(
      (address) => [`${address}/32`, '198.18.0.1'] as const,
    ),
    ['198.51.100.0/24', '198.51.100.11'],
    ['0.0.0.0/0', '169.254.77.1'],
    ['fd00:10:244:1::/64', 'fd00:10:244:1::1'],
    ['2001:db8:18::/64', '2001:db8:18::1'],
    ['2001:db8:2::/64', '2001:db8:2::11'],
    ['::/0', '2001:db8:77::1'],
  ] as const
).map(([network, source]) => ({ network: parseCidr(network)!, source }));

/** The address that the node puts on packets to a destination, and that it masquerades with. */
export function ownAddressTowards(destination: string): string {
  if (localAddresses.has(destination)) return destination;
  return getOrMake(
    SOURCES,
    destination,
    () => routes.find(({ network }) => cidrContains(network, destination))!.source,
  );
}

/** By destination, those that were asked for so far. */
const SOURCES = new Map<string, string>();

/** What a KubeProxyConfiguration says about the node, in nftables mode. */
export function settingsOf(configuration: string): NodeSettings {
  const line = parseCommandLine(['--config', 'config.yaml'], {
    readFile: () => configuration,
    hostname: () => 'unused',
  });
  return nodeSettings({ ...line, configuration: withMode(line.configuration, 'nftables') });
}
