import type { NodeSettings } from '../../../src/application/node/node-contexts.js';
import { parseCommandLine } from '../../../src/bootstrap/configuration/command-line.js';
import { withMode } from '../../../src/bootstrap/configuration/proxy-configuration.js';
import { nodeSettings } from '../../../src/bootstrap/this-node.js';

/** The clients of the recorded scenarios' test bed (test/support/testbed/testbed.ts) as the walk sees them, and its settings. */

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

/** What a KubeProxyConfiguration says about the node, in nftables mode. */
export function settingsOf(configuration: string): NodeSettings {
  const line = parseCommandLine(['--config', 'config.yaml'], {
    readFile: () => configuration,
    hostname: () => 'unused',
  });
  return nodeSettings({ ...line, configuration: withMode(line.configuration, 'nftables') });
}
