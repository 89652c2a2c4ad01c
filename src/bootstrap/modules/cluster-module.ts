import type { ApiObserver, ApiClient } from '../../adapters/kubernetes/client/api-client.js';
import { ManifestSource } from '../../adapters/manifests/manifest-source.js';
import { ClusterEvents } from '../../application/use-cases/cluster-events.js';
import { FamilyLoops } from '../../application/use-cases/object-handler.js';
import { ObjectReports } from '../../application/use-cases/object-reports.js';
import { ignoredPartEvents } from '../../application/use-cases/port-events.js';
import { IP_FAMILIES } from '../../domain/net/ip-family.js';
import { ClusterState } from '../../domain/state/cluster-state.js';
import { KubernetesSource } from '../../adapters/kubernetes/kubernetes-source.js';
import type { ReadingModule } from '../parts/reading-parts.js';

/** Where the objects come from, and what they change. */
export const clusterModule = {
  state: () => new ClusterState(),
  reports: ({ source, clock, logger }) =>
    new ObjectReports(logger.child({ caller: 'object-reports' }), clock, () => source.problems),
  apiClient(parts) {
    const { commandLine, clock, logger, metrics } = parts;
    let client: Promise<ApiClient> | undefined;
    const observer: ApiObserver = {
      answered: (...answered) => metrics.answered(...answered),
      waited: (...waited) => metrics.waited(...waited),
      connecting(address, port) {
        if (!parts.contexts.usesApiServer(address, port)) return;
        const loops = new FamilyLoops(parts.served.map(({ loop }) => loop));
        loops.note(IP_FAMILIES, (pending) => pending.nodeChanged());
      },
    };
    const make = async (): Promise<ApiClient> => {
      const { configuredApiClient } = await import('../cluster/api-client.js');
      return configuredApiClient(commandLine, clock, logger.child({ caller: 'api-client' }), observer);
    };
    return () => (client ??= make());
  },
  source({ commandLine, apiClient, clock, logger: root }) {
    const { manifests, once, request, nodeName } = commandLine;
    const logger = root.child({ caller: 'cluster-source' });
    if (manifests.length > 0)
      return new ManifestSource({ paths: manifests, watch: request.name === 'run' && !once, logger });
    return new KubernetesSource(apiClient, { nodeName }, clock, logger);
  },
  clusterEvents(parts) {
    const { state, reports, syncObserver, health, awaitNode, clock, logger, served, commandLine } = parts;
    const { nodeName, once, request, configuration } = commandLine;
    const loops = new FamilyLoops(served.map(({ loop }) => loop));
    const ignoredParts = request.name === 'run' ? ignoredPartEvents(parts.eventRecorder) : undefined;
    return new ClusterEvents(
      {
        state,
        loops,
        reports,
        observer: syncObserver,
        logger: logger.child({ caller: 'config' }),
        nodeName,
        startTime: clock.now(),
        serviceFrontendsLimit: configuration.serviceFrontendsLimit,
        ignoredParts,
        nodeChanged({ draining }) {
          health.setNodeEligible(!draining);
          awaitNode.changed();
        },
      },
      // A proxy that keeps running picks up late service ranges; what reads only once must have them.
      once || request.name !== 'run'
        ? { needed: ['Service', 'EndpointSlice', 'Node', 'ServiceCIDR'], wanted: [] }
        : { needed: ['Service', 'EndpointSlice', 'Node'], wanted: ['ServiceCIDR'] },
      clock,
      () => awaitNode.listed(),
    );
  },
} satisfies ReadingModule;
