import type { NodeSettings } from '../application/node/node-contexts.js';
import type { CommandLine } from './configuration/command-line.js';
import { modeSettings } from './configuration/proxy-configuration.js';

/** What the configuration says about this node. */
export function nodeSettings({ nodeName, configuration }: CommandLine): NodeSettings {
  const { masqueradeBit, masqueradeAll } = modeSettings(configuration, 'nftables');
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
    nodeHints: gates.PreferSameTrafficDistribution,
    externalIPsAllowed: gates.AllowServiceExternalIPs,
  };
}
