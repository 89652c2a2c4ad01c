import { readFileSync } from 'node:fs';
import type { ApiObject } from '../../support/api-server/object-store.js';
import { accountKubeconfig } from '../../support/cluster/account-kubeconfig.js';
import { kubeadmObjects } from '../../support/cluster/kubeadm-objects.js';

export const EKS_IMAGE = '602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/kube-proxy:v1.36.0-eksbuild.2';

const metadata = { name: 'kube-proxy', namespace: 'kube-system' };
const labels = { 'k8s-app': 'kube-proxy' };
const config = readFileSync(
  new URL('../../bootstrap/configuration/installers/eks.yaml', import.meta.url),
  'utf8',
);

/** What EKS' add-on for kube-proxy makes: kubeconfig and configuration apart, and the node's name by flag. */
export function eksObjects(): readonly ApiObject[] {
  const roles = kubeadmObjects('iptables').filter(({ kind }) => !['ConfigMap', 'DaemonSet'].includes(kind));
  return [
    ...roles,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { kubeconfig: accountKubeconfig() } },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...metadata, name: 'kube-proxy-config' },
      data: { config },
    },
    daemonSet,
  ];
}

const daemonSet: ApiObject = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { ...metadata, labels },
  spec: {
    selector: { matchLabels: labels },
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%', maxSurge: 0 } },
    revisionHistoryLimit: 10,
    template: {
      metadata: { labels },
      spec: {
        priorityClassName: 'system-node-critical',
        serviceAccountName: 'kube-proxy',
        hostNetwork: true,
        tolerations: [{ operator: 'Exists' }],
        containers: [
          {
            name: 'kube-proxy',
            image: EKS_IMAGE,
            command: [
              'kube-proxy',
              '--v=2',
              '--config=/var/lib/kube-proxy-config/config',
              '--hostname-override=$(NODE_NAME)',
            ],
            env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
            resources: { requests: { cpu: '100m' } },
            securityContext: { privileged: true },
            volumeMounts: [
              { name: 'varlog', mountPath: '/var/log' },
              { name: 'xtables-lock', mountPath: '/run/xtables.lock' },
              { name: 'lib-modules', mountPath: '/lib/modules', readOnly: true },
              { name: 'kubeconfig', mountPath: '/var/lib/kube-proxy/' },
              { name: 'config', mountPath: '/var/lib/kube-proxy-config/' },
            ],
          },
        ],
        volumes: [
          { name: 'varlog', hostPath: { path: '/var/log' } },
          { name: 'xtables-lock', hostPath: { path: '/run/xtables.lock', type: 'FileOrCreate' } },
          { name: 'lib-modules', hostPath: { path: '/lib/modules' } },
          { name: 'kubeconfig', configMap: { name: 'kube-proxy' } },
          { name: 'config', configMap: { name: 'kube-proxy-config' } },
        ],
      },
    },
  },
};
