import type { HealthServer } from '../../adapters/health/health-server.js';
import type { Routes } from '../../adapters/http/router.js';
import type { MetricsServer, ScrapeServer } from '../../adapters/metrics/metrics-server.js';
import type { LocalhostRelay } from '../../adapters/endpoint-connections.js';
import type { EjectSilentEndpoints } from '../../application/failover/eject-silent-endpoints.js';
import type { ForwardingObstacles } from '../../application/node/forwarding-obstacles.js';
import type { Backend } from '../../application/ports/backend.js';
import type { HealthCheckListener } from '../../application/ports/health-check-listener.js';
import type { Conntrack } from '../../application/ports/node/conntrack.js';
import type { ServiceLookup } from '../../application/ports/service-lookup.js';
import type { TrafficMetrics } from '../../application/traffic/traffic-metrics.js';
import type { TrafficWatchers } from '../../application/traffic/traffic-watchers.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { Providers } from '../injection/container.js';
import type { Part } from '../life-cycle/part.js';
import type { OpenMode } from '../modes/open-mode.js';
import type { ReadingParts } from './reading-parts.js';

/** The parts of a proxy that exist once. */
export interface ProxyParts extends ReadingParts {
  /** The mode in force. */
  readonly mode: OpenMode;
  /** Sets what the proxy needs of the machine besides rules. Idempotent. */
  readonly setUpMachine: () => Promise<void>;
  /**
   * `promise` resolves when rules may be written: the Node is known and checked, the machine is set up. It rejects when that
   * failed, as `failure` does, which never resolves.
   */
  readonly ready: { readonly promise: Promise<void>; readonly failure: Promise<never> };
  /** Undefined: tracked connections are left alone. */
  readonly conntrack: Conntrack | undefined;
  /** Undefined: nothing is forwarded by the kernel. */
  readonly forwardingObstacles: ForwardingObstacles | undefined;
  /** Undefined: health-check node ports stay closed. */
  readonly healthCheckListener: HealthCheckListener | undefined;
  /** Undefined: the proxy listens on no node ports. */
  readonly localhostRelay: LocalhostRelay | undefined;

  readonly trafficWatchers: TrafficWatchers;
  /** Undefined: silent endpoints are left where they are. */
  readonly ejection: EjectSilentEndpoints | undefined;
  /** Undefined: the configuration wants none, as with the servers. */
  readonly trafficMetrics: TrafficMetrics | undefined;
  /** Undefined where the source delivers every Service. */
  readonly serviceLookup: ServiceLookup | undefined;
  /** What the metrics server answers as kube-proxy's does, except profiles. */
  readonly metricsRoutes: Routes;
  readonly metricsServer: MetricsServer | undefined;
  readonly scrapeServer: ScrapeServer | undefined;
  readonly healthServer: HealthServer | undefined;

  /** Everything that runs, in the order in which it starts. */
  readonly running: readonly Part[];
}

/** What an IP family has for itself, in a container of its own, beside what all share. */
export type FamilyParts = ProxyParts & { readonly family: IpFamily; readonly backend: Backend };

/** How some parts of a proxy are made. */
export type Module = Partial<Providers<ProxyParts>>;
