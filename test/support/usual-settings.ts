import type { NodeSettings } from '../../src/application/node/node-contexts.js';

/** A node as most are. */
export const USUAL_SETTINGS: NodeSettings = {
  nodeName: 'node1',
  bindAddress: '0.0.0.0',
  nodePortAddresses: ['primary'],
  localTraffic: {
    mode: 'ClusterCIDR',
    clusterCIDRs: ['10.244.0.0/16'],
    bridgeInterface: '',
    interfaceNamePrefix: '',
  },
  masqueradeBit: 14,
  masqueradeAll: false,
  nodeHints: true,
  externalIPsAllowed: true,
};
