import { ComparisonError } from '../../domain/compare/side.js';
import { delay } from '../../../application/retries.js';
import { errorMessage } from '../../../application/error-message.js';
import type { Clock } from '../../../application/ports/clock.js';
import {
  NoAnswerError,
  type FoundProxies,
  type NodeProxies,
  type ProxyQuery,
} from '../../application/ports/node-proxies.js';
import { anything, fields, list, optional, text } from '../../../domain/shape.js';
import type { ApiClient } from '../../../adapters/kubernetes/client/api-client.js';
import { ApiError } from '../../../adapters/kubernetes/client/api-error.js';
import { coreRequests, listDaemonSets, listLinuxNodes, listPods } from './cluster-requests.js';
import { apiRequest, listAll, send } from '../../../adapters/kubernetes/client/send.js';
import {
  container,
  notRunning,
  podShape,
  proxyContainer,
  type Container,
  type ProxyPodsOptions,
} from './proxy-pods.js';

interface ComparisonPodsOptions extends ProxyPodsOptions {
  /** The mode that nodes are compared with: a DaemonSet named after it comes first. */
  readonly mode: string;
  /** By name; none: all. */
  readonly nodes: readonly string[];
  /** A label selector of nodes. */
  readonly nodeSelector?: string | undefined;
  /** Missing: that of a DaemonSet that runs this program. */
  readonly image?: string | undefined;
}

/** By which these pods are found. */
const LABELS = { 'app.kubernetes.io/managed-by': 'kubeproxy-compare' } as const;
/** Of our image. */
const PROGRAM = '/usr/local/bin/kube-proxy';
/** Between two requests for the state of a pod. Milliseconds. */
const PAUSE = 500;

/** What of a pod's template comes along: how it reaches the API server and its image, and what it mounts. */
const KEPT = [
  'serviceAccountName',
  'imagePullSecrets',
  'priorityClassName',
  'dnsPolicy',
  'hostAliases',
  'volumes',
] as const;

type DaemonSet = ReturnType<typeof daemonSet>;
/** The rest of its template is there, too. */
const daemonSet = fields({
  metadata: fields({ name: text, namespace: text, labels: optional(anything) }),
  spec: fields({ template: fields({ spec: fields({ containers: list(container) }) }) }),
});

const nodeShape = fields({ metadata: fields({ name: text }) });

type PodName = ReturnType<typeof created>['metadata'];
const created = fields({ metadata: fields({ name: text, namespace: text }) });

/**
 * Runs a command of this program once on each node, in a pod made for it, as the proxy of a DaemonSet would run there: with its account,
 * its flags and its volumes. The pod is deleted afterwards, also when it fails or the signal is aborted; one of a run that was killed
 * ends at its deadline and is deleted by the next run.
 */
export class ComparisonPods implements NodeProxies {
  constructor(
    private readonly client: ApiClient,
    private readonly clock: Clock,
    private readonly options: ComparisonPodsOptions,
    private readonly signal: AbortSignal,
  ) {}

  /** @throws as `send`; ComparisonError if a node does not exist, or there is no DaemonSet or image to run */
  async list(): Promise<FoundProxies> {
    const { namespace, selector, nodeSelector, nodes: names } = this.options;
    const { signal } = this;
    const sets = await listAll(this.client, listDaemonSets(namespace, selector), daemonSet, { signal });
    const make = this.podOf(sets);
    const nodes = await listAll(this.client, listLinuxNodes(nodeSelector), nodeShape, { signal });
    const found = nodes.map(({ metadata }) => metadata.name);
    for (const name of names)
      if (!found.includes(name)) throw new ComparisonError(`there is no such node that runs Linux: ${name}`);
    await this.removeEnded();
    return {
      proxies: found
        .filter((name) => names.length === 0 || names.includes(name))
        .map((node) => ({ node, query: (query) => this.query(make(node, query), query) })),
      unknown: [],
    };
  }

  private async query(pod: object, { timeout }: ProxyQuery): Promise<string> {
    if (this.signal.aborted) throw interrupted();
    try {
      // Not aborted: a pod that was created must be known, so that it can be deleted.
      const made = coreRequests.createNamespacedPod(this.options.namespace, pod as never);
      const { metadata } = await send(this.client, made, created);
      try {
        return outputIn(await this.log(metadata, timeout));
      } finally {
        await this.remove(metadata);
      }
    } catch (error) {
      if (this.signal.aborted) throw interrupted();
      if (error instanceof ApiError)
        throw new NoAnswerError('rejected', errorMessage(error), { cause: error });
      throw error;
    }
  }

  /** What the pod printed, once it has ended. */
  private async log({ name, namespace }: PodName, timeout: number): Promise<string> {
    const { signal } = this;
    const end = this.clock.steady() + timeout;
    for (;;) {
      const read = coreRequests.readNamespacedPod(name, namespace);
      const pod = await send(this.client, read, podShape, { signal });
      if (hasEnded(pod.status?.phase)) break;
      if (this.clock.steady() >= end)
        throw new NoAnswerError(
          'timeout',
          `the pod ${name} did not end within ${timeout / 1000} s: ${notRunning(pod, CONTAINER) ?? 'it runs'}`,
        );
      await delay(this.clock, PAUSE, signal);
      signal.throwIfAborted();
    }
    const read = coreRequests.readNamespacedPodLog(name, namespace);
    return this.client.text(await apiRequest(read, { accept: '*/*', large: true, signal }));
  }

  /** Those of a run that was killed. */
  private async removeEnded(): Promise<void> {
    const { namespace } = this.options;
    const labelSelector = Object.entries(LABELS).map((label) => label.join('='))[0];
    const pods = await listAll(this.client, listPods({ namespace, labelSelector }), podShape);
    for (const { metadata, status } of pods) if (hasEnded(status?.phase)) await this.remove(metadata);
  }

  /** Idempotent. */
  private async remove({ name, namespace }: PodName): Promise<void> {
    try {
      const remove = coreRequests.deleteNamespacedPod(name, namespace, undefined, undefined, 0);
      await send(this.client, remove, anything);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 404)) throw error;
    }
  }

  /** Makes the pods of nodes after the DaemonSet of this program, else after that of kube-proxy. */
  private podOf(sets: readonly DaemonSet[]): (node: string, query: ProxyQuery) => object {
    const { namespace, mode } = this.options;
    const ours = sets.filter(isOurs);
    const chosen = ours.find(({ metadata }) => metadata.name.endsWith(`-${mode}`)) ?? ours[0] ?? sets[0];
    if (!chosen)
      throw new ComparisonError(
        `no DaemonSet in the namespace ${namespace} runs a service proxy; choose others with --proxy-namespace and -l`,
      );
    const image = this.options.image ?? (isOurs(chosen) ? containerOf(chosen)?.image : undefined);
    if (image === undefined)
      throw new ComparisonError(
        'no DaemonSet runs this program yet, so the image to run on nodes is not known; name it with --image',
      );
    return (node, query) => comparisonPod(chosen, node, image, query);
  }
}

const CONTAINER = 'compare';

function comparisonPod(set: DaemonSet, node: string, image: string, query: ProxyQuery): object {
  const template = set.spec.template.spec as Readonly<Record<string, unknown>>;
  const { env, imagePullPolicy, volumeMounts, ...proxy } = containerOf(set) as Container &
    Record<string, unknown>;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { generateName: 'kubeproxy-compare-', namespace: set.metadata.namespace, labels: LABELS },
    spec: {
      ...Object.fromEntries(KEPT.flatMap((name) => (name in template ? [[name, template[name]]] : []))),
      nodeName: node,
      hostNetwork: true,
      restartPolicy: 'Never',
      activeDeadlineSeconds: Math.ceil(query.timeout / 1000),
      terminationGracePeriodSeconds: 0,
      tolerations: [{ operator: 'Exists' }],
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: CONTAINER,
          image,
          command: [PROGRAM, ...query.words, ...flagsOf(proxy)],
          ...Object.fromEntries(
            Object.entries({ env, imagePullPolicy, volumeMounts }).filter(([, value]) => value !== undefined),
          ),
          // To read the rules: NET_RAW is for iptables-legacy.
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'], add: ['NET_ADMIN', 'NET_RAW'] },
          },
        },
      ],
    },
  };
}

function containerOf({ spec }: DaemonSet): Container | undefined {
  return proxyContainer(spec.template);
}

/** Whether it runs this program. */
function isOurs(set: DaemonSet): boolean {
  const { name = '', image = '' } = containerOf(set) ?? {};
  const { labels = {} } = set.metadata as { labels?: Readonly<Record<string, string>> };
  return (
    name === 'kube-proxy-ts' ||
    labels['app.kubernetes.io/name'] === 'kube-proxy-ts' ||
    /(^|\/)kube-proxy-ts([:@]|$)/.test(image)
  );
}

/** The flags of a container, without the program before them. */
function flagsOf({ command = [], args = [] }: Pick<Container, 'command' | 'args'>): readonly string[] {
  const line = [...command, ...args];
  const from = line.findIndex((word) => word.startsWith('-'));
  return from === -1 ? [] : line.slice(from);
}

/** The JSON of a log, which has standard error, too. */
function outputIn(log: string): string {
  const [found] = /^\{$[^]*^\}$/m.exec(log) ?? [];
  if (found !== undefined) return found;
  throw new NoAnswerError('failed', log.trimEnd().split('\n').at(-1) || 'it printed nothing');
}

function hasEnded(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

function interrupted(): NoAnswerError {
  return new NoAnswerError('failed', 'interrupted');
}
