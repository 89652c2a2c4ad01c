import { serviceRanges } from '../../domain/decode/read-service-cidr.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { parseAddress } from '../../domain/net/address.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { isOwnAddress } from '../../domain/node/own-address.js';
import { localTrafficDetector, type LocalTrafficSettings } from '../../domain/node/local-traffic-detector.js';
import { resolvePrimary, selectNodeAddresses } from '../../domain/node/node-addresses.js';
import { nodePortAddressesOf, nodePortIPs } from '../../domain/node/node-port-addresses.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { LocalAddresses } from '../ports/local-addresses.js';
import type { Logger } from '../ports/logger.js';
import type { FamilyContext } from '../sync/sync-family.js';

/** The part of the configuration that decides about this node. */
export interface NodeSettings {
  readonly nodeName: string;
  /** Overrides the Node's address unless unspecified. */
  readonly bindAddress: string;
  /** CIDRs, or `primary`. */
  readonly nodePortAddresses: readonly string[];
  readonly localTraffic: Omit<LocalTrafficSettings, 'podCIDRs'>;
  readonly masqueradeBit: number;
  readonly masqueradeAll: boolean;
  /** Mode iptables: node ports answer on 127.0.0.0/8 too, where the node-port addresses let them. Missing means no. */
  readonly localhostNodePorts?: boolean;
  /** Mode ipvs: the context names each address of the node. Missing means no. */
  readonly namesNodeAddresses?: boolean;
  /** Feature gate PreferSameTrafficDistribution. */
  readonly nodeHints: boolean;
  /** Feature gate AllowServiceExternalIPs. */
  readonly externalIPsAllowed: boolean;
  /** Mode userspace: all traffic may go to all endpoints. Missing means no. */
  readonly everyEndpoint?: boolean;
}

/** What each family's forwarding depends on besides services, following the Node, the service ranges and the interfaces. */
export class NodeContexts {
  private readonly cached = new Map<IpFamily, { readonly text: string; readonly context: FamilyContext }>();
  private readonly warned = new Set<string>();

  constructor(
    private settings: NodeSettings,
    private readonly state: ClusterState,
    private readonly localAddresses: LocalAddresses,
    private readonly logger: Logger,
  ) {}

  /** From the next refresh on, these settings count. */
  use(settings: NodeSettings): void {
    this.settings = settings;
  }

  /**
   * The context of a family. With `refresh` everything is read anew; otherwise, and when nothing changed, the former
   * object is given again.
   */
  of(family: IpFamily, refresh: boolean): FamilyContext {
    const cached = this.cached.get(family);
    if (cached && !refresh) return cached.context;
    const context = this.read(family);
    const text = JSON.stringify(context);
    if (cached?.text === text) return cached.context;
    this.cached.set(family, { text, context });
    return context;
  }

  /**
   * Where the health checks of Services are answered: on the addresses of node ports, loopback included
   * (docs/spec/server.md §8.4). On all of them when this machine's addresses cannot be read.
   */
  healthCheckAddresses(family: IpFamily): 'all' | readonly string[] {
    const { nodePortAddresses, bindAddress } = this.settings;
    const node = selectNodeAddresses(this.state.node?.ips ?? [], bindAddress);
    const accepted = nodePortAddressesOf(family, resolvePrimary(nodePortAddresses, node));
    if (accepted.matchAll) return 'all';
    try {
      const { ips, loopback } = nodePortIPs(accepted.cidrs, this.localAddresses.list());
      return [...ips, ...loopback].sort();
    } catch (error) {
      this.logger.warn(
        { family, error },
        'local addresses cannot be read; health checks answer on all of them',
      );
      return 'all';
    }
  }

  private read(family: IpFamily): FamilyContext {
    const { settings, state } = this;
    const node = state.node;
    const nodeAddresses = selectNodeAddresses(node?.ips ?? [], settings.bindAddress);
    return {
      forwarding: {
        family,
        topology: { nodeName: settings.nodeName, zone: node?.zone ?? '', nodeHints: settings.nodeHints },
        nodeIP: nodeAddresses.addresses[family],
        externalIPsAllowed: settings.externalIPsAllowed,
        ...(settings.everyEndpoint && { everyEndpoint: true }),
      },
      network: {
        family,
        detector: localTrafficDetector(family, { ...settings.localTraffic, podCIDRs: node?.podCIDRs ?? [] }),
        masqueradeBit: settings.masqueradeBit,
        masqueradeAll: settings.masqueradeAll,
        ...this.nodePorts(family, resolvePrimary(settings.nodePortAddresses, nodeAddresses)),
        ...(settings.namesNodeAddresses && { nodeAddresses: this.nodeAddresses(family) }),
        serviceCIDRs: serviceRanges(state.serviceCidrObjects(), family),
      },
    };
  }

  private nodePorts(
    family: IpFamily,
    list: readonly string[],
  ): Pick<NodeNetwork, 'nodePortIPs' | 'localhostNodePorts'> {
    const accepted = nodePortAddressesOf(family, list);
    const localhostNodePorts = Boolean(this.settings.localhostNodePorts) && accepted.containsIPv4Loopback;
    const answering = localhostNodePorts ? { localhostNodePorts } : {};
    if (accepted.matchAll) return { nodePortIPs: 'all', ...answering };
    const { ips, loopback } = nodePortIPs(accepted.cidrs, this.localAddresses.list());
    if (localhostNodePorts) return { nodePortIPs: [...ips, ...loopback].sort(), ...answering };
    for (const address of loopback) this.warnAboutLoopback(address);
    return { nodePortIPs: this.settings.namesNodeAddresses ? ownAddresses(ips, family) : [...ips].sort() };
  }

  private nodeAddresses(family: IpFamily): readonly string[] {
    return ownAddresses(this.localAddresses.list(), family);
  }

  private warnAboutLoopback(address: string): void {
    if (this.warned.has(address)) return;
    this.warned.add(address);
    this.logger.error({ address }, 'node ports on this loopback address are not supported; left out');
  }
}

/** Those by which others reach this node, sorted. */
function ownAddresses(texts: readonly string[], family: IpFamily): readonly string[] {
  return texts
    .map(parseAddress)
    .flatMap((address) => (address?.family === family && isOwnAddress(address) ? [address.text] : []))
    .sort();
}
