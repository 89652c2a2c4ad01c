import { collectionOf, isClusterScoped, pluralOf } from '../api-server/resource-path.js';

/** A kind of objects that the cluster has. */
export interface ApiResource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly shortNames?: readonly string[];
}

/** What kubectl and helm can ask for, kinds of Prometheus' operator and of Cilium among it. */
export const API_RESOURCES: readonly ApiResource[] = [
  { apiVersion: 'v1', kind: 'Namespace', shortNames: ['ns'] },
  { apiVersion: 'v1', kind: 'Node', shortNames: ['no'] },
  { apiVersion: 'v1', kind: 'Pod', shortNames: ['po'] },
  { apiVersion: 'v1', kind: 'Service', shortNames: ['svc'] },
  { apiVersion: 'v1', kind: 'ConfigMap', shortNames: ['cm'] },
  { apiVersion: 'v1', kind: 'Secret' },
  { apiVersion: 'v1', kind: 'ServiceAccount', shortNames: ['sa'] },
  { apiVersion: 'apps/v1', kind: 'DaemonSet', shortNames: ['ds'] },
  { apiVersion: 'apps/v1', kind: 'ControllerRevision' },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding' },
  { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' },
  { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR' },
  { apiVersion: 'cilium.io/v2', kind: 'CiliumNodeConfig' },
  { apiVersion: 'monitoring.coreos.com/v1', kind: 'PodMonitor' },
  { apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule' },
];

const VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

/** The server's answers to discovery, by path. */
export function discovery(resources: readonly ApiResource[]): ReadonlyMap<string, object> {
  const versions = [...new Set(resources.map(({ apiVersion }) => apiVersion))];
  const groups = versions.filter((version) => version.includes('/')).map(groupOf);
  return new Map<string, object>([
    ['/api', { kind: 'APIVersions', versions: ['v1'] }],
    ['/apis', { kind: 'APIGroupList', apiVersion: 'v1', groups }],
    [
      '/openapi/v3',
      {
        paths: Object.fromEntries(versions.map((version) => [pathOf(version).slice(1), schemaPath(version)])),
      },
    ],
    ...versions.map((version): [string, object] => [pathOf(version), listOf(version, resources)]),
    ...versions.map((version): [string, object] => [
      `/openapi/v3${pathOf(version)}`,
      schemaOf(resources.filter(({ apiVersion }) => apiVersion === version)),
    ]),
  ]);
}

const pathOf = (version: string): string => (version.includes('/') ? `/apis/${version}` : `/api/${version}`);

function groupOf(groupVersion: string): object {
  const [name, version] = groupVersion.split('/');
  const served = { groupVersion, version };
  return { name, versions: [served], preferredVersion: served };
}

function listOf(version: string, resources: readonly ApiResource[]): object {
  const own = resources.filter(({ apiVersion }) => apiVersion === version);
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: version,
    resources: own.map(({ kind, shortNames = [] }) => ({
      name: pluralOf(kind),
      singularName: kind.toLowerCase(),
      namespaced: !isClusterScoped(kind),
      kind,
      verbs: VERBS,
      shortNames,
    })),
  };
}

function schemaPath(version: string): object {
  return { serverRelativeURL: `/openapi/v3${pathOf(version)}` };
}

/** Only what kubectl looks for before it leaves validating to the server: that patches take `fieldValidation`. */
function schemaOf(resources: readonly ApiResource[]): object {
  const paths = resources.map(({ apiVersion, kind }) => {
    const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    const patch = {
      'x-kubernetes-group-version-kind': { group, version, kind },
      parameters: [{ name: 'fieldValidation', in: 'query' }],
    };
    return [`${collectionOf(apiVersion, kind)}/{name}`, { patch }];
  });
  return { openapi: '3.0.0', info: { title: 'stand-in', version: '1' }, paths: Object.fromEntries(paths) };
}
