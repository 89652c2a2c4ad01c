import { ContainerModule } from 'inversify';
import type { ApiClient } from '../../adapters/kubernetes/client/api-client.js';
import { ManifestSource } from '../../adapters/manifests/manifest-source.js';
import { LazyKubernetesSource } from '../lazy-kubernetes-source.js';
import type { ClusterSource } from '../../application/ports/cluster-source.js';
import { AwaitNode, CLUSTER_PATIENCE, NO_PATIENCE } from '../../application/node/await-node.js';
import { CheckNode } from '../../application/node/check-node.js';
import { ClusterEvents } from '../../application/use-cases/cluster-events.js';
import { FamilyLoops } from '../../application/use-cases/family-loops.js';
import { ObjectReports } from '../../application/use-cases/object-reports.js';
import { OnEndpointSlice } from '../../application/use-cases/on-endpoint-slice.js';
import { OnEndpoints } from '../../application/use-cases/on-endpoints.js';
import { OnNode } from '../../application/use-cases/on-node.js';
import { OnServiceCidr } from '../../application/use-cases/on-service-cidr.js';
import { OnService } from '../../application/use-cases/on-service.js';
import { ClusterState } from '../../domain/state/cluster-state.js';
import {
  API_CLIENT,
  API_TIMINGS,
  AWAIT_NODE,
  CHECK_NODE,
  CLOCK,
  CLUSTER_EVENTS,
  CLUSTER_SOURCE,
  CLUSTER_STATE,
  COMMAND_LINE,
  FAMILIES,
  LOGGER,
  METRICS,
  NODE_PATIENCE,
  OBJECT_REPORTS,
  PROXY_HEALTH,
  SYNC_LOOPS,
  SYNC_OBSERVER,
} from '../identifiers.js';
import { checkedSettings } from '../node-settings.js';

/** Where the objects come from, what they mean, and what they set in motion. */
export const clusterModule = new ContainerModule(({ bind }) => {
  bind(CLUSTER_STATE).toConstantValue(new ClusterState());
  bind(OBJECT_REPORTS)
    .toDynamicValue((context) => {
      const logger = context.get(LOGGER).child({ caller: 'object-reports' });
      return new ObjectReports(logger, () => context.get(CLUSTER_SOURCE).problems);
    })
    .inSingletonScope();
  bind(API_TIMINGS).toConstantValue({ requests: {}, watches: {} });
  bind(API_CLIENT)
    .toDynamicValue((context) => {
      const commandLine = context.get(COMMAND_LINE);
      const { requests } = context.get(API_TIMINGS);
      const clock = context.get(CLOCK);
      const logger = context.get(LOGGER).child({ caller: 'api-client' });
      const metrics = context.get(METRICS);
      let client: Promise<ApiClient> | undefined;
      return () =>
        (client ??= import('../api-client.js').then(({ configuredApiClient }) =>
          configuredApiClient(commandLine, requests, clock, logger, metrics),
        ));
    })
    .inSingletonScope();
  bind(CHECK_NODE)
    .toDynamicValue((context) => {
      const settings = checkedSettings(context.get(COMMAND_LINE));
      const state = context.get(CLUSTER_STATE);
      return new CheckNode(
        settings,
        context.get(FAMILIES),
        () => state.node,
        context.get(LOGGER).child({ caller: 'check-node' }),
      );
    })
    .inSingletonScope();
  bind(NODE_PATIENCE)
    .toDynamicValue((context) =>
      context.get(COMMAND_LINE).manifests.length > 0 ? NO_PATIENCE : CLUSTER_PATIENCE,
    )
    .inSingletonScope();
  bind(AWAIT_NODE)
    .toDynamicValue((context) => {
      const commandLine = context.get(COMMAND_LINE);
      const state = context.get(CLUSTER_STATE);
      return new AwaitNode(
        commandLine.nodeName,
        commandLine.configuration.detectLocalMode === 'NodeCIDR',
        context.get(NODE_PATIENCE),
        () => state.node,
        context.get(CHECK_NODE),
        context.get(CLOCK),
        context.get(LOGGER).child({ caller: 'await-node' }),
      );
    })
    .inSingletonScope();
  bind(CLUSTER_EVENTS)
    .toDynamicValue((context) => {
      const { nodeName, once, command } = context.get(COMMAND_LINE);
      const state = context.get(CLUSTER_STATE);
      const reports = context.get(OBJECT_REPORTS);
      const observer = context.get(SYNC_OBSERVER);
      const health = context.get(PROXY_HEALTH);
      const loops = context.get(SYNC_LOOPS);
      const families = new FamilyLoops(loops);
      const awaitNode = context.get(AWAIT_NODE);
      void awaitNode.ready.then(
        () => loops.forEach((loop) => loop.initialised()),
        () => {},
      );
      const startTime = context.get(CLOCK).now();
      const onSlice = new OnEndpointSlice(state, families, reports, observer, nodeName, startTime);
      return new ClusterEvents(
        {
          Service: new OnService(state, families, reports, observer),
          EndpointSlice: onSlice,
          Endpoints: new OnEndpoints(onSlice, reports, nodeName),
          Node: new OnNode(
            state,
            families,
            reports,
            context.get(LOGGER).child({ caller: 'on-node' }),
            nodeName,
            ({ leaving }) => {
              health.setNodeEligible(!leaving);
              awaitNode.changed();
            },
          ),
          ServiceCIDR: new OnServiceCidr(state, families, reports),
        },
        // What runs on follows late service ranges; what looks only once must wait for them.
        once || command === 'plan'
          ? ['Service', 'EndpointSlice', 'Node', 'ServiceCIDR']
          : ['Service', 'EndpointSlice', 'Node'],
        () => awaitNode.listed(),
      );
    })
    .inSingletonScope();
  bind(CLUSTER_SOURCE)
    .toDynamicValue((context): ClusterSource => {
      const { manifests, once, command, nodeName } = context.get(COMMAND_LINE);
      const logger = context.get(LOGGER).child({ caller: 'cluster-source' });
      if (manifests.length > 0) {
        return new ManifestSource({ paths: manifests, watch: command === 'run' && !once, logger });
      }
      const options = { nodeName, timings: context.get(API_TIMINGS).watches };
      return new LazyKubernetesSource(context.get(API_CLIENT), options, context.get(CLOCK), logger);
    })
    .inSingletonScope();
});
