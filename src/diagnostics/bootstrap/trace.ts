import { RunningProxy } from '../adapters/cli/asking/running-proxy.js';
import { answerRequest } from '../adapters/cli/tracing/answer-request.js';
import { askProxy } from '../adapters/cli/tracing/ask-proxy.js';
import { placesOfProxy } from '../adapters/cli/tracing/places-of-proxy.js';
import type { Logger } from '../../application/ports/logger.js';
import type { KnownPod, NamedPod } from '../application/trace/named-pod.js';
import type { Asked } from './read-objects.js';

/**
 * Prints what becomes of packets. With manifests they are followed here, otherwise by the proxy running on this node. 1 if a query
 * of several could not be answered.
 */
export async function trace(asked: Asked<'trace'>, logger: Logger): Promise<number> {
  const { request, manifests, configuration } = asked;
  if (manifests.length > 0) return (await import('./trace-manifests.js')).traceManifests(asked, logger);
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  return answerRequest(request, askProxy(proxy, request.rules), placesOfProxy(proxy), (named) =>
    podsOf(asked, named),
  );
}

/** Loads what asks the API server only for a pod that is named. */
async function podsOf(asked: Asked<'trace'>, named: NamedPod): Promise<readonly KnownPod[]> {
  const { podsOfCluster } = await import('../adapters/kubernetes/user-cluster.js');
  return podsOfCluster(asked)(named);
}
