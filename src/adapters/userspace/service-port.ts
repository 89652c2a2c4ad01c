import type { Clock } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';
import type { ForwardingEntry, Frontend } from '../../domain/forwarding/forwarding-entry.js';
import { hostPort } from '../../domain/net/address.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { weightlessOf } from '../../domain/select-endpoints.js';
import { claimOf, claimText, type PortClaim } from '../../domain/userspace/proxied-port.js';
import type { PortAllocator } from '../../domain/userspace/port-allocator.js';
import { RoundRobin, type Random } from '../../domain/userspace/round-robin.js';
import { FloodGuard } from '../process/flood-guard.js';
import { ProxyPortError, UnsupportedProtocolError, type ProxySocket } from './proxy-socket.js';
import type { IsReleased, PortClaims } from './port-claims.js';
import { TcpProxySocket, type TcpRelay } from './tcp-proxy-socket.js';
import { type UdpOptions, UdpProxySocket } from './udp-proxy-socket.js';

/** The shared parts of the service ports of one family. */
export interface ServicePortDependencies {
  readonly family: IpFamily;
  /** As in ProxyAddress. */
  readonly listen: string | undefined;
  readonly allocator: PortAllocator;
  readonly claims: PortClaims;
  readonly relay: TcpRelay;
  readonly udp: UdpOptions;
  readonly random: Random;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** This many ports of the range may belong to other programs. */
const MOST_TRIES = 16;

/** The sockets of one service port: its proxy port, and the ports of this machine that it claims. */
export class ServicePort {
  private reachable: readonly Frontend[] = [];
  private held: readonly PortClaim[] = [];
  private former: readonly PortClaim[] = [];

  private constructor(
    private current: ForwardingEntry,
    private readonly endpoints: RoundRobin,
    private readonly socket: ProxySocket,
    private readonly allocated: number,
    private readonly log: FloodGuard,
    private readonly dependencies: ServicePortDependencies,
  ) {}

  /**
   * Opens the proxy port.
   * @throws UnsupportedProtocolError, NoPortLeftError, ProxyPortError
   */
  static async open(entry: ForwardingEntry, dependencies: ServicePortDependencies): Promise<ServicePort> {
    const endpoints = new RoundRobin(dependencies.random);
    const refused: number[] = [];
    const { logger, clock } = dependencies;
    // Clients whose connections fail come again: one line a minute reports it, with the number of suppressed ones.
    const log = FloodGuard.guard({ logger: logger.child({ service: entry.key }), clock, burst: 1 });
    try {
      for (;;) {
        const port = dependencies.allocator.allocate();
        try {
          const socket = await openSocket(entry, port, endpoints, dependencies, log);
          return new ServicePort(entry, endpoints, socket, port, log, dependencies);
        } catch (error) {
          refused.push(port);
          if (error instanceof UnsupportedProtocolError) throw error;
          const inUse = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
          if (inUse && port !== 0 && refused.length < MOST_TRIES) continue;
          const where = hostPort(dependencies.listen ?? '', port);
          throw new ProxyPortError(where, entry.name.protocol, error);
        }
      }
    } finally {
      for (const port of refused) dependencies.allocator.release(port);
    }
  }

  get entry(): ForwardingEntry {
    return this.current;
  }

  get proxyPort(): number {
    return this.socket.port;
  }

  /** The frontends that may lead to the proxy port: those before the first that could not be claimed. */
  get frontends(): readonly Frontend[] {
    return this.reachable;
  }

  /**
   * Takes over an entry: endpoints, affinity, and claims as far as they go.
   * @param isReleased as in PortClaims.claim
   * @throws PortClaimError when some of its addresses cannot be reached; `frontends` are those that can
   */
  async follow(
    entry: ForwardingEntry,
    isLocal: (address: string) => boolean,
    isReleased: IsReleased,
  ): Promise<void> {
    this.current = entry;
    this.endpoints.stickFor(entry.affinitySeconds);
    this.endpoints.use(entry.endpoints.reachable, weightlessOf(entry.endpoints));
    this.socket.endpointsChanged();
    const { key, name } = entry;
    this.former = [...this.former, ...this.held];
    this.held = [];
    this.reachable = [];
    for (const frontend of entry.frontends) {
      const claim = claimOf(frontend, isLocal);
      if (claim) {
        await this.dependencies.claims.claim(claim, name.protocol, key, isReleased);
        this.held = [...this.held, claim];
      }
      this.reachable = [...this.reachable, frontend];
    }
  }

  /** Releases the ports that only former rules needed, once the rules are those of the entry. */
  releaseUnused(): void {
    const kept = new Set(this.held.map(claimText));
    for (const claim of this.former) if (!kept.has(claimText(claim))) this.release(claim);
    this.former = [];
  }

  /** Forgets clients whose time with their endpoint is over. */
  purge(now: number): void {
    this.endpoints.purge(now);
  }

  async close(): Promise<void> {
    for (const claim of [...this.held, ...this.former]) this.release(claim);
    await this.socket.close();
    this.log.close();
    this.dependencies.allocator.release(this.allocated);
  }

  private release(claim: PortClaim): void {
    this.dependencies.claims.release(claim, this.current.name.protocol, this.current.key);
  }
}

function openSocket(
  { name: { protocol } }: ForwardingEntry,
  port: number,
  endpoints: RoundRobin,
  { family, listen, relay, udp }: ServicePortDependencies,
  log: Logger,
): Promise<ProxySocket> {
  const where = { family, address: listen, port };
  switch (protocol) {
    case 'TCP':
      return TcpProxySocket.open(where, endpoints, relay, log);
    case 'UDP':
      return UdpProxySocket.open(where, endpoints, udp, log);
    case 'SCTP':
      return Promise.reject(new UnsupportedProtocolError(protocol));
  }
}
