import { serviceRanges } from '../../domain/decode/read-service-cidr.js';
import {
  isEverywhere,
  reservedFrontends,
  type OwnListener,
  type TcpAddress,
} from '../../domain/forwarding/reserved-frontends.js';
import type { ForwardingContext } from '../../domain/forwarding/forward-service.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { hostPort, parseAddress } from '../../domain/net/address.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { localTrafficDetector, type LocalTrafficSettings } from '../../domain/node/local-traffic-detector.js';
import {
  isOwnAddress,
  selectNodeAddresses,
  expandNodePortAddresses,
  nodePortAddressesOf,
  nodePortIPs,
} from '../../domain/node/node-addresses.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { LocalAddresses } from '../ports/node/network.js';
import type { Logger } from '../ports/logger.js';
import type { FamilyContext } from '../use-cases/sync.js';

/** The part of the configuration that concerns this node. */
export interface NodeSettings {
  readonly nodeName: string;
  /** Overrides the Node's address unless unspecified. */
  readonly bindAddress: string;
  /** CIDRs and keywords. */
  readonly nodePortAddresses: readonly string[];
  readonly localTraffic: Omit<LocalTrafficSettings, 'podCIDRs'>;
  readonly masqueradeBit: number;
  readonly masqueradeAll: boolean;
  /** iptables and userspace mode: node ports work on 127.0.0.0/8 too, if the node-port addresses include it. Default false. */
  readonly localhostNodePorts?: boolean;
  /** nftables mode: node ports on loopback addresses are rejected, or relayed where the list names such addresses. Default false. */
  readonly ownsLoopbackNodePorts?: boolean;
  /**
   * The message logged once for each loopback address that the list names and the mode does not serve. A missing family logs
   * nothing.
   */
  readonly loopbackProblems?: Readonly<Partial<Record<IpFamily, string>>>;
  /** IPVS mode: the context lists each address of the node. Default false. */
  readonly namesNodeAddresses?: boolean;
  /** Feature gate PreferSameTrafficDistribution. */
  readonly nodeHints: boolean;
  /** Feature gate AllowServiceExternalIPs. */
  readonly externalIPsAllowed: boolean;
  /** Userspace mode: all traffic may go to all endpoints. Default false. */
  readonly everyEndpoint?: boolean;
  /** Unresponsive endpoints are ejected unless a Service turns that off. Default false. */
  readonly ejectUnresponsiveEndpoints?: boolean;
  /** nftables mode: endpoints are chosen by tables of slots. Default false. */
  readonly usesSlots?: boolean;
  /** The TCP ports on which the proxy listens. */
  readonly listeners?: readonly OwnListener[];
}

/**
 * How many addresses of API servers stay reserved, the most recently used: 256 of each family, more than a DNS answer of 4,096 bytes
 * has. So all addresses of an API server's name stay reserved, whichever is in use.
 */
const MOST_API_SERVERS = 512;

/** Inputs of each family's forwarding besides Services: the Node, the service ranges and the local addresses. */
export class NodeContexts {
  private readonly cached = new Map<IpFamily, { readonly text: string; readonly context: FamilyContext }>();
  private readonly warned = new Set<string>();
  /** By their text, the latest last. */
  private readonly apiServers = new Map<string, TcpAddress>();

  constructor(
    private settings: NodeSettings,
    private readonly state: ClusterState,
    private readonly localAddresses: LocalAddresses,
    private readonly logger: Logger,
  ) {}

  /** Uses these settings from the next refresh on. */
  use(settings: NodeSettings): void {
    this.settings = settings;
  }

  /**
   * The proxy opens a connection to this address, for the API server: no Service gets it, from the next refresh on.
   * Returns whether it is a new address.
   */
  usesApiServer(address: string, port: number): boolean {
    const text = hostPort(address, port);
    const isKnown = this.apiServers.delete(text);
    this.apiServers.set(text, { address, port });
    const [oldest] = this.apiServers.keys();
    if (this.apiServers.size > MOST_API_SERVERS) this.apiServers.delete(oldest!);
    return !isKnown;
  }

  /**
   * The context of a family. With `refresh` everything is read again. Without, and if nothing changed, it returns the
   * previous object.
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
   * The addresses on which health checks of Services listen: those of node ports, loopback included (docs/internals/spec/server.md
   * §8.4). All addresses if the local addresses are unreadable.
   */
  healthCheckAddresses(family: IpFamily): 'all' | readonly string[] {
    const { nodePortAddresses, bindAddress } = this.settings;
    const node = selectNodeAddresses(this.state.node?.ips ?? [], bindAddress);
    const accepted = nodePortAddressesOf(family, expandNodePortAddresses(nodePortAddresses, node));
    if (accepted.matchAll) return 'all';
    try {
      const { ips, loopback } = nodePortIPs(accepted.cidrs, this.localAddresses.list());
      return [...ips, ...loopback].sort();
    } catch (error) {
      this.logger.debug(
        { family, error },
        'cannot read the local addresses; health checks listen on all of them',
      );
      return 'all';
    }
  }

  private read(family: IpFamily): FamilyContext {
    const { settings, state } = this;
    const node = state.node;
    const nodeAddresses = selectNodeAddresses(node?.ips ?? [], settings.bindAddress);
    const named = settings.namesNodeAddresses ? ownAddresses(this.localAddresses.list(), family) : undefined;
    return {
      forwarding: {
        family,
        topology: { nodeName: settings.nodeName, zone: node?.zone ?? '', nodeHints: settings.nodeHints },
        nodeIP: nodeAddresses.addresses[family],
        externalIPsAllowed: settings.externalIPsAllowed,
        ...(settings.everyEndpoint && { everyEndpoint: true }),
        ...(settings.ejectUnresponsiveEndpoints && { ejectUnresponsiveEndpoints: true }),
        ...(settings.usesSlots && { usesSlots: true }),
        ...this.reserved(family, Object.values(nodeAddresses.addresses), named),
      },
      network: {
        family,
        detector: localTrafficDetector(family, { ...settings.localTraffic, podCIDRs: node?.podCIDRs ?? [] }),
        masqueradeBit: settings.masqueradeBit,
        masqueradeAll: settings.masqueradeAll,
        ...this.nodePorts(family, expandNodePortAddresses(settings.nodePortAddresses, nodeAddresses)),
        ...(named && { nodeAddresses: named }),
        serviceCIDRs: serviceRanges(state.serviceCidrObjects(), family),
      },
    };
  }

  /**
   * @param known of the Node object, in case that the local addresses cannot be read
   * @param nodeAddresses `ReservedPlaces.nodeAddresses`
   */
  private reserved(
    family: IpFamily,
    known: readonly string[],
    nodeAddresses: readonly string[] | undefined,
  ): Pick<ForwardingContext, 'reserved'> {
    const { listeners = [], localhostNodePorts = false } = this.settings;
    let localAddresses = known;
    try {
      if (listeners.some(isEverywhere)) localAddresses = [...known, ...this.localAddresses.list()];
    } catch (error) {
      this.logger.debug(
        { family, error },
        'cannot read the local addresses; only those of the Node object are kept from Services',
      );
    }
    const reserved = reservedFrontends(family, {
      listeners,
      apiServers: [...this.apiServers.values()],
      localAddresses,
      localhostNodePorts: localhostNodePorts && family === 'IPv4',
      nodeAddresses,
    });
    const former = this.cached.get(family)?.context.forwarding.reserved;
    if (Object.keys(reserved).length === 0) return {};
    return { reserved: former && JSON.stringify(former) === JSON.stringify(reserved) ? former : reserved };
  }

  private nodePorts(
    family: IpFamily,
    list: readonly string[],
  ): Pick<NodeNetwork, 'nodePortIPs' | 'localhostNodePorts' | 'loopbackNodePorts'> {
    const accepted = nodePortAddressesOf(family, list);
    const localhostNodePorts = Boolean(this.settings.localhostNodePorts) && accepted.containsIPv4Loopback;
    const localhost: Pick<NodeNetwork, 'localhostNodePorts' | 'loopbackNodePorts'> = {
      ...(localhostNodePorts && { localhostNodePorts }),
      ...(this.settings.ownsLoopbackNodePorts && {
        loopbackNodePorts: accepted.explicitLoopback ? 'relayed' : 'rejected',
      }),
    };
    if (accepted.matchAll) return { nodePortIPs: 'all', ...localhost };
    const { ips, loopback } = nodePortIPs(accepted.cidrs, this.localAddresses.list());
    if (localhostNodePorts) return { nodePortIPs: [...ips, ...loopback].sort(), ...localhost };
    const problem = this.settings.loopbackProblems?.[family];
    if (problem !== undefined) for (const address of loopback) this.warnAboutLoopback(address, problem);
    return {
      nodePortIPs: this.settings.namesNodeAddresses ? ownAddresses(ips, family) : [...ips].sort(),
      ...localhost,
    };
  }

  private warnAboutLoopback(address: string, problem: string): void {
    if (this.warned.has(address)) return;
    this.warned.add(address);
    this.logger.error({ address }, problem);
  }
}

/** Those by which other machines reach this node, sorted. */
function ownAddresses(texts: readonly string[], family: IpFamily): readonly string[] {
  return texts
    .map(parseAddress)
    .flatMap((address) => (address?.family === family && isOwnAddress(address) ? [address.text] : []))
    .sort();
}
