import type { NodeSettings } from '../application/node/node-contexts.js';
import type { CommandLine } from './configuration/command-line.js';
import { modeInForce, modeSettings } from './configuration/proxy-configuration.js';

/** What the configuration says about this node. */
export function nodeSettings({ nodeName, configuration }: CommandLine): NodeSettings {
  const mode = modeInForce(configuration);
  const { masqueradeBit, masqueradeAll } = modeSettings(configuration, mode);
  const { gates, detectLocalMode, detectLocal, clusterCIDR, bindAddress, nodePortAddresses } = configuration;
  return {
    nodeName,
    bindAddress,
    nodePortAddresses,
    localTraffic: {
      mode: detectLocalMode || 'ClusterCIDR',
      clusterCIDRs: clusterCIDR,
      bridgeInterface: detectLocal.bridgeInterface,
      interfaceNamePrefix: detectLocal.interfaceNamePrefix,
    },
    masqueradeBit,
    masqueradeAll,
    localhostNodePorts: mode === 'iptables' && configuration.iptables.localhostNodePorts,
    nodeHints: gates.PreferSameTrafficDistribution,
    externalIPsAllowed: gates.AllowServiceExternalIPs,
  };
}
