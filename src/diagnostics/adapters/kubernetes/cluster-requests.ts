import { AppsV1ApiRequestFactory } from '@kubernetes/client-node/dist/gen/apis/AppsV1Api.js';
import { CoreV1ApiRequestFactory } from '@kubernetes/client-node/dist/gen/apis/CoreV1Api.js';
import { requestConfiguration } from '../../../adapters/kubernetes/client/request-configuration.js';
import type { BuildPage } from '../../../adapters/kubernetes/client/send.js';

/** Requests of commands, built by client-node. A proxy does not load this file. */
export const coreRequests = new CoreV1ApiRequestFactory(requestConfiguration);
const appsRequests = new AppsV1ApiRequestFactory(requestConfiguration);

interface Selection {
  /** Missing: all. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export function listPods({ namespace, labelSelector, fieldSelector }: Selection): BuildPage {
  return ({ limit, next }) =>
    namespace === undefined
      ? coreRequests.listPodForAllNamespaces(undefined, next, fieldSelector, labelSelector, limit)
      : coreRequests.listNamespacedPod(
          namespace,
          undefined,
          undefined,
          next,
          fieldSelector,
          labelSelector,
          limit,
        );
}

/** Nodes on which proxies can run: those with Linux. @param selector of labels that they have besides */
export function listLinuxNodes(selector?: string): BuildPage {
  const labels = ['kubernetes.io/os!=windows', ...(selector ? [selector] : [])].join(',');
  return ({ limit, next }) => coreRequests.listNode(undefined, undefined, next, undefined, labels, limit);
}

export function listDaemonSets(namespace: string, labelSelector: string): BuildPage {
  return ({ limit, next }) =>
    appsRequests.listNamespacedDaemonSet(
      namespace,
      undefined,
      undefined,
      next,
      undefined,
      labelSelector,
      limit,
    );
}

/** Missing namespace: of all. */
export function listEvents(namespace?: string, fieldSelector?: string): BuildPage {
  return ({ limit, next }) =>
    namespace === undefined
      ? coreRequests.listEventForAllNamespaces(undefined, next, fieldSelector, undefined, limit)
      : coreRequests.listNamespacedEvent(
          namespace,
          undefined,
          undefined,
          next,
          fieldSelector,
          undefined,
          limit,
        );
}
