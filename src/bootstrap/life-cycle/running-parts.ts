import { raiseOpenFileLimit } from '../../adapters/userspace/open-file-limit.js';
import { errorMessage } from '../../application/error-message.js';
import type { ClusterSource } from '../../application/ports/cluster-source.js';
import type { ClusterEvents } from '../../application/use-cases/cluster-events.js';
import type { LocalAddresses } from '../../application/ports/node/local-addresses.js';
import { nodeEvent } from '../node/node-event.js';
import type { ProxyParts } from '../parts/proxy-parts.js';
import type { Part } from './part.js';
import { scrapeGauges } from '../modules/scrape-gauges.js';

/**
 * Everything that runs in a proxy, in the order in which it starts. Servers come first, so that probes are answered from
 * the start. The source comes after the sync loops, which begin when its first lists are complete, the Node is known, and the
 * machine is set up.
 */
export function runningParts(proxy: ProxyParts): readonly Part[] {
  const { mode, localAddresses, healthServer, metricsServer, scrapeServer, trafficWatchers, conntrack } =
    proxy;
  const { ejection, eventRecorder, awaitNode, metrics, served, localhostRelay, logger } = proxy;
  const { forwardingObstacles: obstacles } = proxy;
  const loops = served.map(({ loop }) => loop);
  const healthChecks = served.flatMap((family) => family.healthChecks ?? []);
  const localhostNodePorts = served.flatMap((family) => family.localhostNodePorts ?? []);
  const reconcilers = served.flatMap((family) => family.conntrack);
  const resets = served.flatMap((family) => family.resets);

  /** With bindAddressHardFail a server that cannot listen ends the program; the cluster is told. */
  const listen = async (server: { start(): Promise<void> }, failure: string): Promise<void> => {
    try {
      await server.start();
    } catch (error) {
      eventRecorder.record(nodeEvent(proxy.commandLine.nodeName, 'Warning', failure, errorMessage(error)));
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
    (metricsServer ?? scrapeServer ?? ejection) && {
      name: 'traffic',
      start: () => proxy.trafficMetrics?.start(),
      stop: () => trafficWatchers.stop(),
    },
    ejection && { name: 'silent endpoints', stop: () => ejection.stop() },
    (metricsServer ?? scrapeServer) && {
      name: 'metrics',
      start: () => {
        metrics.start();
        metrics.onScrape(scrapeGauges(proxy));
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
    localhostRelay && {
      name: 'node ports on localhost',
      start: () => raiseOpenFileLimit(logger.child({ caller: 'localhost-relay' })),
      stop: async () => {
        await stopAll(localhostNodePorts);
        await localhostRelay.close();
      },
    },
    conntrack && { name: 'conntrack', stop: () => conntrack.close() },
    conntrack && { name: 'conntrack reconcilers', stop: () => stopAll(reconcilers) },
    resets.length > 0 ? { name: 'resets of dead connections', stop: () => stopAll(resets) } : undefined,
    obstacles && {
      name: 'packet forwarding',
      start: () => void Promise.all(loops.map((loop) => loop.firstAttempt)).then(() => obstacles.start()),
      stop: () => obstacles.stop(),
    },
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
    sourcePart(proxy.source, proxy.clusterEvents),
    { name: 'event recorder', stop: () => eventRecorder.stop?.() },
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
}

export function addressesPart(addresses: LocalAddresses): Part {
  return { name: 'addresses of this node', start: () => addresses.open?.(), stop: () => addresses.close?.() };
}

export function sourcePart(source: ClusterSource, events: ClusterEvents): Part {
  return {
    name: 'cluster source',
    start: (signal) => source.start(events, signal),
    async stop() {
      await source.stop();
      // Until then lists may arrive.
      events.stop();
    },
  };
}

/** Of all families at once; waits for each, whatever becomes of the others. */
async function stopAll(parts: readonly { stop(): Promise<void> }[]): Promise<void> {
  const outcomes = await Promise.allSettled(parts.map((part) => part.stop()));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
