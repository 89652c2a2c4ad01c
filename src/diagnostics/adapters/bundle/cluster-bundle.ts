/** `kubectl kubeproxy dump`: one archive with the bundle of each node, the logs of its pods, and the objects of the API server. */

import { ExitCode, exitCodeOf } from '../../../adapters/cli/exit-code.js';
import { findProxies } from '../cli/cluster/query-cluster.js';
import type { ClusterAccess } from '../cli/cluster/cluster-command.js';
import { reportArchive } from '../cli/commands/dump.js';
import type { Invocation } from '../cli/options.js';
import { podShape, type Pod } from '../kubernetes/proxy-pods.js';
import { PodExec } from '../kubernetes/pod-exec.js';
import { ProxyPods } from '../kubernetes/proxy-pods.js';
import { queryApiServer, userApiClient } from '../kubernetes/user-cluster.js';
import {
  coreRequests,
  listDaemonSets,
  listEvents,
  listLinuxNodes,
  listPods,
} from '../kubernetes/cluster-requests.js';
import type { ApiClient } from '../../../adapters/kubernetes/client/api-client.js';
import { apiRequest, listAll, send } from '../../../adapters/kubernetes/client/send.js';
import { SystemClock } from '../../../adapters/process/system-clock.js';
import { anything, both, fields, list, number, optional, text, type Shape } from '../../../domain/shape.js';
import { grouped } from '../../../domain/model/maps.js';
import { timeText } from '../../../domain/model/text.js';
import { queryNodes } from '../../application/cluster/query-nodes.js';
import {
  archiveName,
  BundleArchive,
  collectParts,
  missingFiles,
  nodeBundle,
  NotApplicableError,
  type BundlePart,
} from './bundle.js';

/** Milliseconds for the bundle of a node, which has a deadline of its own. */
const NODE_TIMEOUT = 120_000;
/** Bundles are large: the most that are in memory at a time. */
const PARALLEL = 5;
/** Milliseconds for one request. */
const REQUEST_TIMEOUT = 30_000;
const LOG_SECONDS = 3_600;
const LOG_LINES = 50_000;

interface DumpedCluster extends Omit<Invocation<unknown>, 'request'> {
  readonly request: {
    readonly access: ClusterAccess;
    readonly query: { readonly file?: string | undefined };
  };
}

/**
 * Writes one archive for all nodes, or those that are named. 0 when it is complete, 1 when a part is missing, 3 when no proxy is reachable.
 * @throws QueryError when the API server is not reachable or there is no proxy, UnknownNodeError, BundleArchiveError
 */
export async function dumpCluster(
  invocation: DumpedCluster,
  programVersion: string,
  timeout?: number,
): Promise<number> {
  const { access, query } = invocation.request;
  const clock = new SystemClock();
  const client = await queryApiServer(() => userApiClient(invocation, clock, access.api));
  const options = { namespace: access.proxyNamespace, selector: access.selector };
  const proxies = new ProxyPods(client, new PodExec(client, clock), options);
  const found = await findProxies(proxies, access);
  const all = await queryApiServer(() => listAll(client, podsOf(access), loggedPod));
  const isNamed = (node = ''): boolean => access.nodes.length === 0 || access.nodes.includes(node);
  const pods = all.filter(({ spec }) => isNamed(spec?.nodeName));
  const time = timeText(Date.now());
  const archive = await BundleArchive.open(query.file ?? archiveName(time), {
    version: programVersion,
    time,
  });
  try {
    await archive.add('cluster', await collectParts(clusterParts(client, access, pods)));
    const bundles = {
      words: ['dump', '-o', 'json'],
      timeout: timeout ?? access.timeout ?? NODE_TIMEOUT,
      shape: nodeBundle,
      keep: ({ files }: ReturnType<typeof nodeBundle>, node: string) => archive.add(node, files),
    };
    const { answers, unreachable } = await queryNodes(
      found.proxies,
      bundles,
      Math.min(PARALLEL, access.parallel),
    );
    for (const { node, reason } of unreachable)
      await archive.add(node, [
        { path: 'node', source: 'kubectl exec', state: 'missing', reason, durationSeconds: 0 },
      ]);
    for (const [node, its] of grouped(pods, ({ spec }) => spec?.nodeName ?? 'no-node'))
      await archive.add(node, await collectParts(its.flatMap((pod) => logParts(client, pod))));
    const index = await archive.finish();
    await reportArchive(archive.path, index);
    if (answers.length === 0) return ExitCode.notReachable;
    return exitCodeOf(missingFiles(index).length > 0);
  } catch (error) {
    await archive.discard();
    throw error;
  } finally {
    client.close();
  }
}

function podsOf({ proxyNamespace, selector }: ClusterAccess) {
  return listPods({ namespace: proxyNamespace, labelSelector: selector });
}

const containers = optional(list(fields({ name: text })));
const containerStatuses = optional(list(fields({ name: text, restartCount: optional(number) })));

/** A pod of a proxy, with its containers and volumes. */
type LoggedPod = Pod & ReturnType<typeof withContainers>;
const withContainers = fields({
  spec: optional(
    fields({
      initContainers: containers,
      volumes: optional(list(fields({ configMap: optional(fields({ name: optional(text) })) }))),
    }),
  ),
  status: optional(fields({ containerStatuses, initContainerStatuses: containerStatuses })),
});
const loggedPod: Shape<LoggedPod> = both(podShape, withContainers);

/** The logs of all containers of a pod, and of those that were started again the one before. */
function logParts(client: ApiClient, { metadata, spec, status }: LoggedPod): readonly BundlePart[] {
  const { name: pod, namespace } = metadata;
  const statuses = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []),
  ] as readonly { readonly name: string; readonly restartCount?: number }[];
  const restarts = new Map(statuses.map(({ name, restartCount = 0 }) => [name, restartCount]));
  const all = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  return all.flatMap(({ name }) =>
    [false, true].map((isPrevious): BundlePart => ({
      path: `logs/${pod}/${name}${isPrevious ? '-previous' : ''}.log`,
      source: `kubectl -n ${namespace} logs ${pod} -c ${name} ${isPrevious ? '--previous' : '--since=1h'}`,
      timeout: REQUEST_TIMEOUT,
      keepsEnd: true,
      async collect(signal) {
        if (isPrevious && (restarts.get(name) ?? 0) === 0)
          throw new NotApplicableError('the container was not restarted');
        const since = isPrevious ? undefined : LOG_SECONDS;
        const request = coreRequests.readNamespacedPodLog(
          pod,
          namespace,
          name,
          undefined,
          undefined,
          undefined,
          undefined,
          isPrevious,
          since,
          undefined,
          LOG_LINES,
          true,
        );
        return client.text(await apiRequest(request, { accept: '*/*', large: true, signal }));
      },
    })),
  );
}

function clusterParts(
  client: ApiClient,
  access: ClusterAccess,
  pods: readonly LoggedPod[],
): readonly BundlePart[] {
  const { proxyNamespace: namespace, selector } = access;
  const part = (
    name: string,
    source: string,
    collect: (signal: AbortSignal) => Promise<unknown>,
  ): BundlePart => ({ path: `${name}.json`, source, timeout: REQUEST_TIMEOUT, collect });
  const nodes = new Set(pods.map(({ spec }) => spec?.nodeName));
  const names = new Set(pods.map(({ metadata }) => metadata.name));
  const maps = new Set(
    pods.flatMap(({ spec }) => (spec?.volumes ?? []).flatMap(({ configMap }) => configMap?.name ?? [])),
  );
  return [
    part('version', 'GET /version', (signal) => client.json({ path: '/version', signal })),
    part('daemonsets', `kubectl -n ${namespace} get daemonsets -l '${selector}'`, (signal) =>
      objects(client, listDaemonSets(namespace, selector), signal),
    ),
    part('pods', `kubectl -n ${namespace} get pods -l '${selector}'`, (signal) =>
      objects(client, podsOf(access), signal),
    ),
    part('nodes', 'kubectl get nodes', async (signal) =>
      (await objects(client, listLinuxNodes(), signal)).filter(({ metadata }) => nodes.has(metadata.name)),
    ),
    ...[...maps].map((map) =>
      part(`configmaps/${map}`, `kubectl -n ${namespace} get configmap ${map}`, async (signal) =>
        withoutNoise(
          await send(client, coreRequests.readNamespacedConfigMap(map, namespace), clusterObject, { signal }),
        ),
      ),
    ),
    part('events-proxies', `kubectl -n ${namespace} get events`, async (signal) =>
      (await objects(client, listEvents(namespace), signal)).filter(
        ({ involvedObject: { kind, name = '' } = {} }) =>
          (kind === 'Pod' && names.has(name)) || kind === 'DaemonSet' || kind === 'ConfigMap',
      ),
    ),
    part('events-nodes', 'kubectl -n default get events', async (signal) =>
      (await objects(client, listEvents('default'), signal)).filter(
        ({ involvedObject }) => involvedObject?.kind === 'Node',
      ),
    ),
    part(
      'events-services',
      'kubectl get events -A --field-selector involvedObject.kind=Service',
      async (signal) =>
        (await objects(client, listEvents(undefined, 'involvedObject.kind=Service'), signal)).filter(
          ({ involvedObject, type }) => involvedObject?.kind === 'Service' && type !== 'Normal',
        ),
    ),
  ];
}

type ClusterObject = ReturnType<typeof clusterObject>;
const clusterObject = fields({
  metadata: fields({ name: text, managedFields: anything }),
  type: optional(text),
  involvedObject: optional(fields({ kind: optional(text), name: optional(text) })),
  status: anything,
});

async function objects(
  client: ApiClient,
  build: ReturnType<typeof listPods>,
  signal: AbortSignal,
): Promise<readonly ClusterObject[]> {
  return (await listAll(client, build, clusterObject, { signal })).map(withoutNoise);
}

/** Without the history of fields, and the list of all images of a node. */
function withoutNoise({
  metadata: { managedFields: _, ...metadata },
  status,
  ...object
}: ClusterObject): ClusterObject {
  const { images: __, ...rest } = (status ?? {}) as { readonly images?: unknown };
  return { ...object, metadata: metadata as ClusterObject['metadata'], status: rest };
}
