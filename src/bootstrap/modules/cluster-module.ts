import { ApiServiceLookup } from '../../adapters/kubernetes/api-service-lookup.js';
import type { ApiClient } from '../../adapters/kubernetes/client/api-client.js';
import { ManifestSource } from '../../adapters/manifests/manifest-source.js';
import { ClusterEvents } from '../../application/use-cases/cluster-events.js';
import { FamilyLoops } from '../../application/use-cases/family-loops.js';
import { ObjectReports } from '../../application/use-cases/object-reports.js';
import { OnEndpointSlice } from '../../application/use-cases/on-endpoint-slice.js';
import { OnEndpoints } from '../../application/use-cases/on-endpoints.js';
import { OnNode } from '../../application/use-cases/on-node.js';
import { OnServiceCidr } from '../../application/use-cases/on-service-cidr.js';
import { OnService } from '../../application/use-cases/on-service.js';
import { ClusterState } from '../../domain/state/cluster-state.js';
import { LazyKubernetesSource } from '../cluster/lazy-kubernetes-source.js';
import {
  API_CLIENT,
  API_TIMINGS,
  AWAIT_NODE,
  CLOCK,
  CLUSTER_EVENTS,
  CLUSTER_SOURCE,
  CLUSTER_STATE,
  COMMAND_LINE,
  LOGGER,
  METRICS,
  OBJECT_REPORTS,
  PROXY_HEALTH,
  SERVED_FAMILIES,
  SERVICE_LOOKUP,
  SYNC_OBSERVER,
} from '../identifiers.js';
import { provide, provideValue, type Module } from '../injection/provider.js';

const apiClient = provide(
  API_CLIENT,
  { commandLine: COMMAND_LINE, timings: API_TIMINGS, clock: CLOCK, logger: LOGGER, metrics: METRICS },
  ({ commandLine, timings, clock, logger, metrics }) => {
    let client: Promise<ApiClient> | undefined;
    const make = async (): Promise<ApiClient> => {
      const { configuredApiClient } = await import('../cluster/api-client.js');
      const log = logger.child({ caller: 'api-client' });
      return configuredApiClient(commandLine, timings.requests, clock, log, metrics);
    };
    return () => (client ??= make());
  },
);

const clusterSource = provide(
  CLUSTER_SOURCE,
  { commandLine: COMMAND_LINE, api: API_CLIENT, timings: API_TIMINGS, clock: CLOCK, logger: LOGGER },
  ({ commandLine, api, timings, clock, logger: root }) => {
    const { manifests, once, request, nodeName } = commandLine;
    const logger = root.child({ caller: 'cluster-source' });
    if (manifests.length > 0)
      return new ManifestSource({ paths: manifests, watch: request.name === 'run' && !once, logger });
    return new LazyKubernetesSource(api, { nodeName, timings: timings.watches }, clock, logger);
  },
);

/** The API server leaves out Services that no proxy needs. */
const serviceLookup = provide(
  SERVICE_LOOKUP,
  { commandLine: COMMAND_LINE, api: API_CLIENT },
  ({ commandLine, api }) => (commandLine.manifests.length > 0 ? undefined : new ApiServiceLookup(api)),
);

const clusterEvents = provide(
  CLUSTER_EVENTS,
  {
    commandLine: COMMAND_LINE,
    state: CLUSTER_STATE,
    reports: OBJECT_REPORTS,
    observer: SYNC_OBSERVER,
    health: PROXY_HEALTH,
    families: SERVED_FAMILIES,
    awaitNode: AWAIT_NODE,
    clock: CLOCK,
    logger: LOGGER,
  },
  (parts) => {
    const { state, reports, observer, health, awaitNode, clock, logger } = parts;
    const { nodeName, once, request, configuration } = parts.commandLine;
    const loops = new FamilyLoops(parts.families.map(({ loop }) => loop));
    const onSlice = new OnEndpointSlice(state, loops, reports, observer, nodeName, clock.now());
    return new ClusterEvents(
      {
        Service: new OnService(state, loops, reports, observer, configuration.serviceFrontendsLimit),
        EndpointSlice: onSlice,
        Endpoints: new OnEndpoints(onSlice, reports, nodeName),
        Node: new OnNode(
          state,
          loops,
          reports,
          logger.child({ caller: 'on-node' }),
          nodeName,
          ({ leaving }) => {
            health.setNodeEligible(!leaving);
            awaitNode.changed();
          },
        ),
        ServiceCIDR: new OnServiceCidr(state, loops, reports),
      },
      // A proxy that keeps running picks up late service ranges; what reads only once must have them.
      once || request.name !== 'run'
        ? { needed: ['Service', 'EndpointSlice', 'Node', 'ServiceCIDR'], wanted: [] }
        : { needed: ['Service', 'EndpointSlice', 'Node'], wanted: ['ServiceCIDR'] },
      clock,
      () => awaitNode.listed(),
    );
  },
);

/** Where the objects come from, and what they change. */
export const clusterModule: Module = [
  provide(CLUSTER_STATE, {}, () => new ClusterState()),
  provide(
    OBJECT_REPORTS,
    { source: CLUSTER_SOURCE, logger: LOGGER },
    ({ source, logger }) =>
      new ObjectReports(logger.child({ caller: 'object-reports' }), () => source.problems),
  ),
  provideValue(API_TIMINGS, { requests: {}, watches: {} }),
  apiClient,
  clusterSource,
  serviceLookup,
  clusterEvents,
];
