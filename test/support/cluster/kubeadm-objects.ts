import { stringify } from 'yaml';
import type { ApiObject } from '../api-server/object-store.js';
import { accountKubeconfig } from './account-kubeconfig.js';

/** kube-proxy's image as kubeadm 1.36 asks for it. */
const KUBE_PROXY_IMAGE = 'registry.k8s.io/kube-proxy:v1.36.0';

const metadata = { name: 'kube-proxy', namespace: 'kube-system' };

/** What kubeadm makes for kube-proxy, in a mode of your choice. */
export function kubeadmObjects(mode: string): readonly ApiObject[] {
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    configMap(mode),
    daemonSet,
    nodeProxier,
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'kubeadm:node-proxier' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node-proxier' },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
    },
  ];
}

/** The server's own role for kube-proxy. */
const nodeProxier: ApiObject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'system:node-proxier' },
  rules: [
    { apiGroups: [''], resources: ['endpoints', 'services'], verbs: ['list', 'watch'] },
    { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    { apiGroups: ['networking.k8s.io'], resources: ['servicecidrs'], verbs: ['list', 'watch'] },
  ],
};

function configMap(mode: string): ApiObject {
  const config = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    bindAddress: '0.0.0.0',
    bindAddressHardFail: false,
    clientConnection: {
      acceptContentTypes: '',
      burst: 0,
      contentType: '',
      kubeconfig: '/var/lib/kube-proxy/kubeconfig.conf',
      qps: 0,
    },
    clusterCIDR: '10.244.0.0/16',
    configSyncPeriod: '0s',
    conntrack: { maxPerCore: null, min: null, tcpCloseWaitTimeout: null, tcpEstablishedTimeout: null },
    enableProfiling: false,
    healthzBindAddress: '',
    hostnameOverride: '',
    kind: 'KubeProxyConfiguration',
    metricsBindAddress: '',
    mode,
  };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...metadata, labels: { app: 'kube-proxy' } },
    data: { 'config.conf': stringify(config), 'kubeconfig.conf': accountKubeconfig() },
  };
}

const labels = { 'k8s-app': 'kube-proxy' };

const daemonSet: ApiObject = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { ...metadata, labels },
  spec: {
    selector: { matchLabels: labels },
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    revisionHistoryLimit: 10,
    template: {
      metadata: { labels },
      spec: {
        priorityClassName: 'system-node-critical',
        containers: [
          {
            name: 'kube-proxy',
            image: KUBE_PROXY_IMAGE,
            imagePullPolicy: 'IfNotPresent',
            command: [
              '/usr/local/bin/kube-proxy',
              '--config=/var/lib/kube-proxy/config.conf',
              '--hostname-override=$(NODE_NAME)',
            ],
            env: [
              {
                name: 'NODE_NAME',
                valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } },
              },
            ],
            securityContext: { privileged: true },
            volumeMounts: [
              { name: 'kube-proxy', mountPath: '/var/lib/kube-proxy' },
              { name: 'xtables-lock', mountPath: '/run/xtables.lock' },
              { name: 'lib-modules', mountPath: '/lib/modules', readOnly: true },
            ],
          },
        ],
        hostNetwork: true,
        serviceAccountName: 'kube-proxy',
        nodeSelector: { 'kubernetes.io/os': 'linux' },
        tolerations: [{ operator: 'Exists' }],
        volumes: [
          { name: 'kube-proxy', configMap: { name: 'kube-proxy' } },
          { name: 'xtables-lock', hostPath: { path: '/run/xtables.lock', type: 'FileOrCreate' } },
          { name: 'lib-modules', hostPath: { path: '/lib/modules' } },
        ],
      },
    },
  },
};
