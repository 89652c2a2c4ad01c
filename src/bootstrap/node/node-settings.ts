import type { CheckedSettings } from '../../application/node/check-node.js';
import type { NodeSettings } from '../../application/node/node-contexts.js';
import type { OwnListener } from '../../domain/forwarding/reserved-frontends.js';
import type { CommandLine } from '../configuration/command-line.js';
import { splitHostPort } from '../../domain/net/listen-address.js';
import { LEVELS, type KubernetesVersion } from '../configuration/levels.js';
import { modeInForce, modeSettings, type ProxyConfiguration } from '../configuration/proxy-configuration.js';
import type { ProxyMode } from '../configuration/schema/schema.js';

const LOCALHOST_OFF =
  '--nodeport-addresses includes localhost but --iptables-localhost-nodeports=false was passed';
const NO_IPV6_LOCALHOST =
  '--nodeport-addresses includes localhost but localhost NodePorts are not supported on IPv6';

/** What the configuration says about this node. */
export function nodeSettings({ nodeName, configuration, scrapeBindAddress }: CommandLine): NodeSettings {
  const mode = modeInForce(configuration);
  const { masqueradeBit, masqueradeAll } = modeSettings(configuration, mode);
  const { gates, detectLocalMode, detectLocal, clusterCIDR, bindAddress, nodePortAddresses } = configuration;
  return {
    nodeName,
    bindAddress,
    // Mode userspace serves node ports everywhere (docs/spec/userspace.md §1).
    nodePortAddresses: mode === 'userspace' ? [] : nodePortAddresses,
    localTraffic: {
      mode: detectLocalMode || 'ClusterCIDR',
      clusterCIDRs: clusterCIDR,
      bridgeInterface: detectLocal.bridgeInterface,
      interfaceNamePrefix: detectLocal.interfaceNamePrefix,
    },
    masqueradeBit,
    masqueradeAll,
    localhostNodePorts: mode === 'iptables' && configuration.iptables.localhostNodePorts,
    ownsLoopbackNodePorts: ownsLoopbackNodePorts(configuration),
    loopbackProblems: loopbackProblems(mode, configuration.kubernetesVersion),
    namesNodeAddresses: mode === 'ipvs',
    nodeHints: gates.PreferSameTrafficDistribution,
    externalIPsAllowed: gates.AllowServiceExternalIPs,
    everyEndpoint: mode === 'userspace',
    ejectSilentEndpoints: configuration.ejectSilentEndpoints,
    usesSlots: mode === 'nftables',
    listeners: [
      ...ownListener(configuration.healthzBindAddress, 'the health checks of this proxy'),
      ...ownListener(configuration.metricsBindAddress, 'the metrics of this proxy'),
      ...ownListener(scrapeBindAddress, 'the metrics of this proxy'),
    ],
  };
}

/** @param text `ip:port`; empty: it does not listen */
function ownListener(text: string, name: string): readonly OwnListener[] {
  const place = splitHostPort(text);
  return place ? [{ address: place.host, port: Number(place.port), name }] : [];
}

/** Whether the proxy decides what becomes of node ports on loopback addresses in mode nftables. */
export function ownsLoopbackNodePorts(configuration: ProxyConfiguration): boolean {
  const { gates } = configuration;
  return modeInForce(configuration) === 'nftables' && (gates.KubeProxyNFTablesLocalhostNodePorts ?? false);
}

/** In kube-proxy's words; in the other modes such addresses are left out silently (docs/spec/model.md §7). */
function loopbackProblems(mode: ProxyMode, version: KubernetesVersion): NodeSettings['loopbackProblems'] {
  if (mode === 'iptables') return { IPv4: LOCALHOST_OFF, IPv6: NO_IPV6_LOCALHOST };
  const { loopbackInNftables: text } = LEVELS[version];
  return mode === 'nftables' && text !== undefined ? { IPv4: text, IPv6: text } : {};
}

/** The settings that must be consistent with this node's Node object. */
export function checkedSettings({ configuration }: CommandLine): CheckedSettings {
  const { healthzBindAddress, metricsBindAddress, bindAddress, nodePortAddresses } = configuration;
  return {
    bindAddress,
    nodePortAddresses,
    detectLocalMode: configuration.detectLocalMode || 'ClusterCIDR',
    detectsLocalTraffic: modeInForce(configuration) !== 'userspace',
    clusterCIDRs: configuration.clusterCIDR,
    excludeCIDRs: configuration.ipvs.excludeCIDRs,
    sourceVip: configuration.winkernel.sourceVip,
    healthzAddress: splitHostPort(healthzBindAddress)?.host ?? '',
    metricsAddress: splitHostPort(metricsBindAddress)?.host ?? '',
  };
}
