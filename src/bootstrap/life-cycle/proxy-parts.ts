import { errorMessage } from '../../application/error-message.js';
import type { ClusterSource, ObjectSink } from '../../application/ports/cluster-source.js';
import type { LocalAddresses } from '../../application/ports/node/local-addresses.js';
import {
  AWAIT_NODE,
  CLUSTER_EVENTS,
  CLUSTER_SOURCE,
  COMMAND_LINE,
  CONNTRACK,
  EVENT_RECORDER,
  HEALTH_SERVER,
  LOCAL_ADDRESSES,
  METRICS,
  METRICS_SCRAPE,
  METRICS_SERVER,
  MODE,
  PROXY_PARTS,
  READY,
  SCRAPE_SERVER,
  SERVED_FAMILIES,
  TRAFFIC_METRICS,
  TRAFFIC_WATCHERS,
} from '../identifiers.js';
import { provide } from '../injection/provider.js';
import { nodeEvent } from '../node/node-event.js';
import type { Part } from './part.js';

/**
 * Everything that runs in a proxy, in the order in which it starts. Servers come first, so that probes are answered from
 * the start. The source comes after the sync loops, which begin when its first lists are complete, the Node is known, and the
 * machine is set up.
 */
export const proxyParts = provide(
  PROXY_PARTS,
  {
    mode: MODE,
    localAddresses: LOCAL_ADDRESSES,
    healthServer: HEALTH_SERVER,
    metricsServer: METRICS_SERVER,
    scrapeServer: SCRAPE_SERVER,
    metrics: METRICS,
    scrape: METRICS_SCRAPE,
    traffic: TRAFFIC_WATCHERS,
    trafficMetrics: TRAFFIC_METRICS,
    families: SERVED_FAMILIES,
    conntrack: CONNTRACK,
    source: CLUSTER_SOURCE,
    sink: CLUSTER_EVENTS,
    events: EVENT_RECORDER,
    awaitNode: AWAIT_NODE,
    ready: READY,
    commandLine: COMMAND_LINE,
  },
  (proxy) => {
    const { mode, localAddresses, healthServer, metricsServer, scrapeServer, traffic } = proxy;
    const { conntrack, events, awaitNode } = proxy;
    const loops = proxy.families.map(({ loop }) => loop);
    const healthChecks = proxy.families.flatMap((family) => family.healthChecks ?? []);
    const reconcilers = proxy.families.flatMap((family) => family.conntrack ?? []);

    /** With bindAddressHardFail a server that cannot listen ends the program; the cluster is told. */
    const listen = async (server: { start(): Promise<void> }, failure: string): Promise<void> => {
      try {
        await server.start();
      } catch (error) {
        events.record(nodeEvent(proxy.commandLine.nodeName, 'Warning', failure, errorMessage(error)));
        throw error;
      }
    };

    const parts: readonly (Part | undefined)[] = [
      { name: 'proxy mode', stop: () => mode.close() },
      addressesPart(localAddresses),
      healthServer && {
        name: 'healthz server',
        start: () => listen(healthServer, 'FailedToStartProxierHealthcheck'),
        stop: () => healthServer.stop(),
      },
      (metricsServer ?? scrapeServer) && {
        name: 'traffic',
        start: () => proxy.trafficMetrics?.start(),
        stop: () => traffic.stop(),
      },
      (metricsServer ?? scrapeServer) && {
        name: 'metrics',
        start: () => {
          proxy.metrics.start();
          proxy.metrics.onScrape(proxy.scrape);
        },
      },
      metricsServer && {
        name: 'metrics server',
        start: () => listen(metricsServer, 'FailedToStartMetricServer'),
        stop: () => metricsServer.stop(),
      },
      scrapeServer && {
        name: 'scrape server',
        start: () => listen(scrapeServer, 'FailedToStartMetricServer'),
        stop: () => scrapeServer.stop(),
      },
      healthChecks.length > 0
        ? { name: 'service health checks', stop: () => stopAll(healthChecks) }
        : undefined,
      conntrack && { name: 'conntrack', stop: () => conntrack.close() },
      conntrack && { name: 'conntrack reconcilers', stop: () => stopAll(reconcilers) },
      {
        name: 'sync loops',
        start: () => {
          proxy.ready.promise.then(
            () => {
              for (const loop of loops) loop.initialized();
            },
            // The proxy fails with it.
            () => {},
          );
        },
        stop: () => stopAll(loops),
      },
      sourcePart(proxy.source, proxy.sink),
      { name: 'event recorder', stop: () => events.stop?.() },
      { name: 'wait for the Node', stop: () => awaitNode.stop() },
      {
        name: 'changes of addresses',
        start: () =>
          localAddresses.follow?.(() => {
            for (const loop of loops) {
              loop.pending.nodeChanged();
              loop.changed();
            }
          }),
      },
    ];
    return parts.filter((part) => part !== undefined);
  },
);

export function addressesPart(addresses: LocalAddresses): Part {
  return { name: 'addresses of this node', start: () => addresses.open?.(), stop: () => addresses.close?.() };
}

export function sourcePart(source: ClusterSource, sink: ObjectSink): Part {
  return {
    name: 'cluster source',
    start: (signal) => source.start(sink, signal),
    stop: () => source.stop(),
  };
}

/** Of all families at once; waits for each, whatever becomes of the others. */
async function stopAll(parts: readonly { stop(): Promise<void> }[]): Promise<void> {
  const outcomes = await Promise.allSettled(parts.map((part) => part.stop()));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
