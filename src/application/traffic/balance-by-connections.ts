import {
  nextWeights,
  type EffectiveWeights,
  type WeightLookup,
} from '../../domain/balancing/open-connections.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import { slotShares } from '../../domain/balancing/slots.js';
import { endpointPlace } from '../../domain/model/endpoint.js';
import { serviceOf, type ServicePortName } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { familyPortKey, type FamilyPortKey } from '../../domain/traffic/service-frontends.js';
import type { Clock } from '../ports/clock.js';
import type { ForwardingListener } from '../ports/forwarding-listener.js';
import type { Logger } from '../ports/logger.js';
import { ConntrackUnavailableError } from '../ports/node/conntrack.js';
import { PeriodicCheck, type CountingTargets } from './periodic-check.js';
import { openConnections } from './traffic-watchers.js';

/** An endpoint that gets new connections by how many are open. */
export interface BalancedEndpoint {
  readonly name: ServicePortName;
  /** `ip:port` */
  readonly endpoint: string;
  readonly open: number;
  /** Its part of new connections: 0 to 1. With the policies Local and Cluster side by side, that of the latter. */
  readonly share: number;
}

/** No more of them are shown, so that metrics stay small. */
const MOST_SHOWN = 1_000;

/**
 * Use case BalanceByConnections, for `kube-proxy-ts/load-balancing: least-connections`: every second it compares the open
 * connections of endpoints, and recomputes the Services whose endpoints should get other parts of the next ones. Without such
 * Services nothing is counted. While nothing can be counted, weights decide. A restart begins with the weights.
 */
export class BalanceByConnections {
  /** As last programmed. */
  private readonly entries = new Map<FamilyPortKey, ForwardingEntry>();
  private readonly weights = new Map<FamilyPortKey, EffectiveWeights>();
  private readonly counting: PeriodicCheck;
  private isStopped = false;
  /** Why connections cannot be counted, since it was last tried. */
  private unavailable: ConntrackUnavailableError | undefined;

  constructor(
    /** Called when counting begins. */
    private readonly targets: () => CountingTargets,
    clock: Clock,
    private readonly logger: Logger,
  ) {
    this.counting = new PeriodicCheck(targets, 'numbers', () => this.check(), clock);
  }

  /** The effective weights of a family, at any time. */
  effectiveWeights(family: IpFamily): WeightLookup {
    return (port) => this.weights.get(`${family} ${port}`);
  }

  /** Follows the forwarding of a family. */
  listener(family: IpFamily): ForwardingListener {
    return {
      programmed: ({ changes }) => {
        for (const { key, entry } of changes) {
          const port = familyPortKey({ family, key });
          if (entry?.balancing?.method === 'least-connections' && entry.affinitySeconds === 0)
            this.entries.set(port, entry);
          else if (this.entries.delete(port)) this.weights.delete(port);
        }
        if (this.entries.size === 0) this.counting.stop();
        else if (!this.counting.isRunning && !this.isStopped) this.start();
      },
    };
  }

  /** The endpoints as they are programmed. None while nothing is counted. */
  endpoints(): readonly BalancedEndpoint[] {
    const counted = this.entries.size > 0 ? this.targets().traffic.counted() : undefined;
    if (!counted) return [];
    const shown: BalancedEndpoint[] = [];
    for (const [port, { name, endpoints, balancing }] of this.entries) {
      const list = endpoints.cluster ?? endpoints.local ?? [];
      if (shown.length + list.length > MOST_SHOWN) continue;
      const open = openConnections(counted, port);
      for (const [index, { slots, totalSlots }] of slotShares(list, balancing!).entries()) {
        const endpoint = endpointPlace(list[index]!);
        shown.push({ name, endpoint, open: open(endpoint), share: slots / totalSlots });
      }
    }
    return shown;
  }

  /** Why open connections do not count at present, for people. Empty if no service port needs them. */
  get warnings(): readonly string[] {
    return this.entries.size > 0 && this.unavailable ? [`${NOT_COUNTED}: ${this.unavailable.message}`] : [];
  }

  /** Idempotent. */
  stop(): void {
    this.isStopped = true;
    this.counting.stop();
  }

  private start(): void {
    try {
      this.counting.start();
      this.unavailable = undefined;
    } catch (error) {
      if (!(error instanceof ConntrackUnavailableError)) throw error;
      if (!this.unavailable) this.logger.warn({ error }, NOT_COUNTED);
      this.unavailable = error;
    }
  }

  private check(): void {
    const { traffic, recompute } = this.targets();
    const counted = traffic.counted();
    if (counted?.facts.complete !== true) return;
    const due = new Map<string, ForwardingEntry>();
    for (const [port, entry] of this.entries) {
      const open = openConnections(counted, port);
      const weights = nextWeights(entry.endpoints.reachable, this.weights.get(port), open);
      if (!weights) continue;
      this.weights.set(port, weights);
      due.set(`${entry.family} ${serviceOf(entry.key)}`, entry);
    }
    for (const { family, key } of due.values()) recompute(family, serviceOf(key));
  }
}

const NOT_COUNTED = 'connections cannot be counted, so least-connections chooses endpoints by weight alone';
