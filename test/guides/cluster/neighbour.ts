import type { ApiObject } from '../../support/api-server/object-store.js';

/** A DaemonSet of a program that serves Services in the place of kube-proxy, of which there is no program here: its pods are just ready. */
export function neighbour(name: string, image: string, args: readonly string[]): ApiObject {
  const labels = { 'k8s-app': name };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'kube-system', labels },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      revisionHistoryLimit: 10,
      template: { metadata: { labels }, spec: { hostNetwork: true, containers: [{ name, image, args }] } },
    },
  };
}
