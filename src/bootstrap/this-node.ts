import { SERVICE_DEVICE } from '../adapters/ipvs/ipvs-kernel.js';
import { cpuCount, InterfaceAddresses } from '../adapters/process/host-facts.js';
import { NetlinkLocalAddresses } from '../adapters/rtnetlink/netlink-local-addresses.js';
import { setUpConntrackTable } from '../adapters/sysctl.js';
import type { CheckedSettings } from '../application/node/check-node.js';
import type { NodeSettings } from '../application/node/node-contexts.js';
import type { Clock } from '../application/ports/clock.js';
import type { EventRecorder, ClusterEvent } from '../application/ports/event-recorder.js';
import type { Logger } from '../application/ports/logger.js';
import type { LocalAddresses } from '../application/ports/node/network.js';
import type { OwnListener } from '../domain/forwarding/reserved-frontends.js';
import { splitHostPort } from '../domain/net/listen-address.js';
import type { CommandLine } from './configuration/command-line.js';
import { modeInForce, modeSettings, type ProxyConfiguration } from './configuration/proxy-configuration.js';
import { RELEASES, type KubernetesVersion } from './configuration/releases.js';
import type { ProxyMode } from './configuration/schema.js';

const LOCALHOST_OFF =
  '--nodeport-addresses includes localhost but --iptables-localhost-nodeports=false was passed';
const NO_IPV6_LOCALHOST =
  '--nodeport-addresses includes localhost but localhost NodePorts are not supported on IPv6';

/** The configuration of this node. */
export function nodeSettings({ nodeName, configuration, scrapeBindAddress }: CommandLine): NodeSettings {
  const mode = modeInForce(configuration);
  const { masqueradeBit, masqueradeAll } = modeSettings(configuration, mode);
  const { gates, detectLocalMode, detectLocal, clusterCIDR, bindAddress, nodePortAddresses } = configuration;
  return {
    nodeName,
    bindAddress,
    // Userspace mode serves node ports everywhere (docs/internals/spec/userspace.md §1).
    nodePortAddresses: mode === 'userspace' ? [] : nodePortAddresses,
    localTraffic: {
      mode: detectLocalMode || 'ClusterCIDR',
      clusterCIDRs: clusterCIDR,
      bridgeInterface: detectLocal.bridgeInterface,
      interfaceNamePrefix: detectLocal.interfaceNamePrefix,
    },
    masqueradeBit,
    masqueradeAll,
    localhostNodePorts:
      mode === 'userspace' || (mode === 'iptables' && configuration.iptables.localhostNodePorts),
    ownsLoopbackNodePorts: ownsLoopbackNodePorts(configuration),
    loopbackProblems: loopbackProblems(mode, configuration.kubernetesVersion),
    namesNodeAddresses: mode === 'ipvs',
    nodeHints: gates.PreferSameTrafficDistribution ?? false,
    externalIPsAllowed: gates.AllowServiceExternalIPs ?? false,
    everyEndpoint: mode === 'userspace',
    ejectUnresponsiveEndpoints: configuration.ejectUnresponsiveEndpoints,
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

/** Whether the proxy handles node ports on loopback addresses in nftables mode. */
export function ownsLoopbackNodePorts(configuration: ProxyConfiguration): boolean {
  const { gates } = configuration;
  return modeInForce(configuration) === 'nftables' && (gates.KubeProxyNFTablesLocalhostNodePorts ?? false);
}

/** In kube-proxy's words; in the other modes such addresses are left out silently (docs/internals/spec/model.md §7). */
function loopbackProblems(mode: ProxyMode, version: KubernetesVersion): NodeSettings['loopbackProblems'] {
  if (mode === 'iptables') return { IPv4: LOCALHOST_OFF, IPv6: NO_IPV6_LOCALHOST };
  const { loopbackInNftables: text } = RELEASES[version];
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

/**
 * Applies the machine settings of the configuration, apart from rules: the sysctls of connection tracking
 * (docs/internals/spec/server.md §4). Those of a mode: `OpenMode.setUp`. Needs no API server; idempotent.
 * @throws ConntrackSettingsError
 */
export function setUpHost(
  { nodeName, configuration }: CommandLine,
  events: EventRecorder,
  logger: Logger,
): void {
  setUpConntrackTable(configuration.conntrack, cpuCount(), logger, (note) => {
    logger.warn({ note }, '/sys is read-only; keeping the size of the conntrack hash table');
    events.record(nodeEvent(nodeName, 'Warning', 'readOnlySysFS', note));
  });
}

/** An event about the start on a node (docs/internals/spec/server.md §1.5). */
export function nodeEvent(
  nodeName: string,
  type: ClusterEvent['type'],
  reason: string,
  note = '',
): ClusterEvent {
  return {
    regarding: { kind: 'Node', namespace: '', name: nodeName },
    type,
    reason,
    action: 'StartKubeProxy',
    note,
  };
}

/** The addresses of this node. Nothing is opened before they are listed: a proxy that needs none does not depend on the machine's. */
export class NodeAddresses implements LocalAddresses {
  private opened: LocalAddresses | undefined;
  private onChange: (() => void) | undefined;
  private closed = false;

  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  list(): readonly string[] {
    if (!this.opened && !this.closed) {
      this.opened = openLocalAddresses(this.clock, this.logger);
      if (this.onChange) this.opened.follow?.(this.onChange);
    }
    return this.opened?.list() ?? [];
  }

  follow(onChange: () => void): void {
    this.onChange = onChange;
    this.opened?.follow?.(onChange);
  }

  close(): void {
    this.closed = true;
    this.opened?.close?.();
  }
}

/**
 * The addresses of this node, followed where netlink is available. Those of services, which IPVS mode adds to a device of
 * its own, are not among them, in any mode: they may outlive it for a while.
 */
function openLocalAddresses(clock: Clock, logger: Logger): LocalAddresses {
  try {
    return new NetlinkLocalAddresses(SERVICE_DEVICE, clock, logger);
  } catch (error) {
    logger.warn(
      { error },
      'netlink is unavailable: interfaces without a carrier are not seen, and changed addresses only when rules are verified',
    );
    return new InterfaceAddresses();
  }
}
