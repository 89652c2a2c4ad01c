import { errorMessage } from '../../application/error-message.js';
import type {
  ApplyResult,
  Backend,
  ServiceFailure,
  VerificationKind,
  VerifyResult,
} from '../../application/ports/backend.js';
import type { Clock } from '../../application/ports/clock.js';
import type { LocalAddresses } from '../../application/ports/node/network.js';
import type { Logger } from '../../application/ports/logger.js';
import type { ServicePortFlows } from '../../domain/conntrack/desired-flows.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { IptablesHost } from '../../domain/iptables/options.js';
import type { IptablesServicePortRules } from '../../domain/iptables/table.js';
import type { Protocol, ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { USERSPACE_BASE_RULES, compilePortals } from '../../domain/userspace/portals.js';
import { PortAllocator, type PortRange } from '../../domain/userspace/port-allocator.js';
import {
  claimOf,
  claimText,
  proxiedFlows,
  proxied,
  type PortClaim,
  type ProxiedPort,
} from '../../domain/userspace/proxied-port.js';
import type { Random } from '../../domain/userspace/round-robin.js';
import { ANY_HOST } from '../iptables/owned-chains.js';
import type { IptablesBackendOptions } from '../iptables/iptables-driver.js';
import type { IptablesCommands } from '../iptables/iptables-commands.js';
import { UnsupportedProtocolError } from './proxy-socket.js';
import { PortClaims, type HoldPort, type IsReleased } from './port-claims.js';
import { removePortals } from './remove-portals.js';
import { ServicePort, type ServicePortDependencies } from './service-port.js';
import { TcpRelay } from './tcp-proxy-socket.js';

export interface UserspaceOptions {
  /** The one address on which the sockets listen; undefined for every address of this machine. */
  readonly listen: string | undefined;
  /** Reads by which address this machine's processes reach the sockets; undefined while there is none. */
  readonly hostAddress: () => Promise<string | undefined>;
  readonly portRange: PortRange;
  /** After so many milliseconds without a datagram a UDP flow ends. */
  readonly udpIdleTimeout: number;
  readonly random?: Random;
  /** How ports of this machine are kept from other programs; by sockets, except in tests. */
  readonly holdPort?: HoldPort;
}

/** Makes the backend that writes the iptables rules. */
export type RulesBackendFactory = (
  readHost: () => Promise<IptablesHost>,
  options: IptablesBackendOptions,
) => Backend;

/**
 * Programs one family through this process itself: every service port has a socket of the proxy, iptables leads the
 * packets for its addresses there, and the proxy passes connections on to endpoints, one after the other.
 *
 * A change opens sockets first, then writes rules, then closes sockets, so that every rule leads to an open socket. Which
 * endpoints there are is the sockets' business alone; it needs no rule. Rules are written, compared and repaired by the
 * driver of the iptables mode, which is given other rules to write.
 */
export class UserspaceBackend implements Backend {
  readonly mode = 'userspace';
  private readonly ports = new Map<ServicePortKey, ServicePort>();
  private readonly dependencies: ServicePortDependencies;
  private readonly rules: Backend;
  private node!: NodeNetwork;
  private local: ReadonlySet<string> = new Set();
  private host: string | undefined;

  constructor(
    readonly family: IpFamily,
    private readonly options: UserspaceOptions,
    private readonly commands: IptablesCommands,
    makeRules: RulesBackendFactory,
    private readonly localAddresses: LocalAddresses,
    private readonly clock: Clock,
    logger: Logger,
  ) {
    const { listen, portRange, udpIdleTimeout, random = Math.random, holdPort } = options;
    this.dependencies = {
      family,
      listen,
      allocator: new PortAllocator(portRange, random),
      claims: new PortClaims(family, holdPort),
      relay: new TcpRelay(clock),
      udp: { clock, idleTimeout: udpIdleTimeout },
      random,
      clock,
      logger,
    };
    // The rules of this mode do not depend on the host.
    this.rules = makeRules(() => Promise.resolve(ANY_HOST), {
      compile: (entry) => this.portals(entry),
      baseRules: () => USERSPACE_BASE_RULES,
      isServiceChain: () => false,
    });
  }

  /** The current flows of a UDP service port; undefined for other protocols. */
  udpFlows({ key, name }: ForwardingEntry): ServicePortFlows | undefined {
    const port = this.ports.get(key);
    if (!port || name.protocol !== 'UDP') return undefined;
    const { listen } = this.options;
    const addresses = listen === undefined ? this.localAddresses.list() : [listen];
    return proxiedFlows(port.frontends, addresses, port.proxyPort);
  }

  /** The proxy port of a service port; undefined while it has none. */
  proxyPortOf(key: ServicePortKey): number | undefined {
    return this.ports.get(key)?.proxyPort;
  }

  /** The target of a proxy port. The cost is proportional to the number of service ports. */
  proxiedAt(protocol: Protocol, proxyPort: number): ProxiedPort | undefined {
    for (const port of this.ports.values())
      if (port.proxyPort === proxyPort && port.entry.name.protocol === protocol) return proxied(port.entry);
    return undefined;
  }

  async start(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<ApplyResult> {
    await this.readAddresses(this.present());
    const wanted = new Map([...entries].map((entry) => [entry.key, entry]));
    const gone = [...this.ports.keys()].filter((key) => !wanted.has(key));
    const changes = [...gone.map(removed), ...[...wanted.values()].map(changed)];
    return this.program(changes, node, (served) =>
      this.rules.start(
        served.flatMap(({ entry }) => entry ?? []),
        node,
      ),
    );
  }

  /**
   * Besides what changed, follows this machine's addresses: sockets hold those that are service addresses, and rules lead to one of
   * them.
   */
  apply(changes: readonly ForwardingChange[], node: NodeNetwork): Promise<ApplyResult> {
    return this.follow(changes, node, false);
  }

  /** @param isFull also checks for changes that keep addresses, such as links that come up */
  private async follow(
    changes: readonly ForwardingChange[],
    node: NodeNetwork,
    isFull: boolean,
  ): Promise<ApplyResult> {
    const known = new Set(changes.map(({ key }) => key));
    const moved = (await this.addressesMoved(isFull))
      ? [...this.ports.values()].map(({ entry }) => changed(entry))
      : [];
    const all = [...changes, ...moved.filter(({ key }) => !known.has(key))];
    return this.program(all, node, (served) => this.rules.apply(served, node));
  }

  /** Besides the rules, checks this machine's addresses and forgets clients whose affinity is over. */
  async verify(how: VerificationKind, signal?: AbortSignal): Promise<VerifyResult> {
    const repair = await this.rules.verify(how, signal);
    if (how === 'quick') return repair;
    for (const port of this.ports.values()) port.purge(this.clock.steady());
    const { failed } = await this.follow([], this.node, true);
    return { ...repair, failed: [...repair.failed, ...failed] };
  }

  async cleanup(): Promise<void> {
    await removePortals(this.commands, this.family);
  }

  /** Stops accepting clients, then ends open connections. */
  async close(): Promise<void> {
    await Promise.all([...this.ports.values()].map((port) => port.close()));
    this.ports.clear();
    await this.dependencies.relay.close();
    await this.rules.close();
  }

  private async program(
    changes: readonly ForwardingChange[],
    node: NodeNetwork,
    write: (served: readonly ForwardingChange[]) => Promise<ApplyResult>,
  ): Promise<ApplyResult> {
    this.node = node;
    const failed: ServiceFailure[] = [];
    const served: ForwardingChange[] = [];
    const next = new Map(changes.map(({ key, entry }) => [key, entry]));
    const isReleased: IsReleased = (owner, claim) =>
      next.has(owner) && !this.claimsOf(next.get(owner)).some((kept) => claimText(kept) === claimText(claim));
    for (const change of changes)
      if (!change.entry || (await this.serve(change.entry, isReleased, failed))) served.push(change);
    const result = await write(served);
    const refused = new Set(result.failed.map(({ key }) => key));
    for (const { key, entry } of served) if (!refused.has(key)) await this.closeUnused(key, entry);
    return { ...result, failed: [...failed, ...result.failed] };
  }

  /** Opens what the service port needs. False when it has no proxy port, so that no rule can lead there. */
  private async serve(
    entry: ForwardingEntry,
    isReleased: IsReleased,
    failed: ServiceFailure[],
  ): Promise<boolean> {
    const { key } = entry;
    try {
      let port = this.ports.get(key);
      if (!port) this.ports.set(key, (port = await ServicePort.open(entry, this.dependencies)));
      await port.follow(entry, this.isLocal, isReleased);
      return true;
    } catch (error) {
      const limitedBy = error instanceof UnsupportedProtocolError ? 'mode' : 'node';
      failed.push({ key, reason: errorMessage(error), limitedBy });
      return this.ports.has(key);
    }
  }

  private readonly isLocal = (address: string): boolean => this.local.has(address);

  private claimsOf(entry: ForwardingEntry | undefined): readonly PortClaim[] {
    return (entry?.frontends ?? []).flatMap((frontend) => claimOf(frontend, this.isLocal) ?? []);
  }

  /** Closes what no rule of the service port leads to any more. */
  private async closeUnused(key: ServicePortKey, entry: ForwardingEntry | undefined): Promise<void> {
    const port = this.ports.get(key);
    if (entry || !port) return port?.releaseUnused();
    this.ports.delete(key);
    await port.close();
  }

  private portals(entry: ForwardingEntry): IptablesServicePortRules {
    const port = this.ports.get(entry.key)!;
    const { host, options } = this;
    return compilePortals(entry, port.frontends, port.proxyPort, { listen: options.listen, host });
  }

  /** Looks at them again. Returns whether they changed. */
  private async addressesMoved(isFull: boolean): Promise<boolean> {
    const { host, local } = this;
    const present = this.present();
    const isSame = present.size === local.size && [...present].every((text) => local.has(text));
    if (isSame && !isFull) return false;
    await this.readAddresses(present);
    return !isSame || host !== this.host;
  }

  private async readAddresses(present: ReadonlySet<string>): Promise<void> {
    const { listen, hostAddress } = this.options;
    if (listen === undefined) this.host = await hostAddress();
    this.local = present;
  }

  private present(): ReadonlySet<string> {
    return new Set(this.localAddresses.list());
  }
}

function changed(entry: ForwardingEntry): ForwardingChange {
  return { key: entry.key, entry };
}

function removed(key: ServicePortKey): ForwardingChange {
  return { key, entry: undefined };
}
