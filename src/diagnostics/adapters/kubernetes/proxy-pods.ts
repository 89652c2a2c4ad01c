import { AnswerError } from '../../application/parse-answer.js';
import { fields, text, list, optional } from '../../../domain/shape.js';
import { errorMessage } from '../../../application/error-message.js';
import {
  NoAnswerError,
  type FoundProxies,
  type NodeProxies,
  type NodeProxy,
  type ProxyQuery,
} from '../../application/ports/node-proxies.js';
import type { ApiClient } from '../../../adapters/kubernetes/client/api-client.js';
import { ApiError } from '../../../adapters/kubernetes/client/api-error.js';
import { listLinuxNodes, listPods } from './cluster-requests.js';
import { listAll } from '../../../adapters/kubernetes/client/send.js';
import { CommandStartError, type CommandOutcome, type PodExec } from './pod-exec.js';

/** Which pods are proxies. */
export interface ProxyPodsOptions {
  readonly namespace: string;
  /** A label selector. */
  readonly selector: string;
}

/** Nodes need nothing but their names. */
const NAMES_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

const nodeObject = fields({ metadata: fields({ name: text }) });

/** The proxies that run as pods of a DaemonSet, queried by exec with the rights of the user. */
export class ProxyPods implements NodeProxies {
  constructor(
    private readonly client: ApiClient,
    private readonly exec: PodExec,
    private readonly options: ProxyPodsOptions,
  ) {}

  /** @throws ApiError, ApiConnectionError, ApiProtocolError, KubeconfigError */
  async list(): Promise<FoundProxies> {
    const { namespace, selector } = this.options;
    const unknown: string[] = [];
    const [pods, nodes] = await Promise.all([
      listAll(this.client, listPods({ namespace, labelSelector: selector }), podShape),
      listAll(this.client, listLinuxNodes(), nodeObject, { accept: NAMES_ONLY }).catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        unknown.push(`nodes without a proxy are not seen: ${error.message}`);
        return [];
      }),
    ]);
    const byNode = new Map<string, Pod[]>(nodes.map(({ metadata }) => [metadata.name, []]));
    for (const pod of pods) {
      const { nodeName } = pod.spec ?? {};
      if (nodeName === undefined) unknown.push(`the pod ${pod.metadata.name} has no node yet`);
      else byNode.set(nodeName, [...(byNode.get(nodeName) ?? []), pod]);
    }
    return {
      proxies: [...byNode].map(([node, there]): NodeProxy => {
        const pod = podToQuery(there);
        return { node, query: (query) => this.query(pod, query) };
      }),
      unknown,
    };
  }

  private async query(pod: Pod | undefined, { words, timeout }: ProxyQuery): Promise<string> {
    const container = pod && proxyContainer(pod);
    if (!pod || !container) throw new NoAnswerError('absent', 'the node has no pod of a proxy');
    const { name, namespace } = pod.metadata;
    const state = notRunning(pod, container.name);
    if (state !== undefined) throw new NoAnswerError('not-running', `the pod ${name} does not run: ${state}`);
    const place = { namespace, pod: name, container: container.name };
    const signal = AbortSignal.timeout(timeout);
    try {
      return answerOf(await this.exec.run(place, queryLine(container, words), signal), container);
    } catch (error) {
      if (error instanceof NoAnswerError) throw error;
      if (signal.aborted)
        throw new NoAnswerError('timeout', `no answer within ${timeout / 1000} s`, { cause: error });
      throw noAnswerFrom(error, container);
    }
  }
}

/**
 * What the program printed, whatever its exit code says about the proxy.
 * @throws NoAnswerError if that is nothing
 */
function answerOf({ stdout, stderr, exitCode }: CommandOutcome, container: Container): string {
  if (stdout.trim() !== '') return stdout;
  const said = lastLine(stderr) || `it ended with ${exitCode} and printed nothing`;
  // Our own program exits with 3 if no proxy is reachable.
  if (exitCode === 3) throw new NoAnswerError('failed', said);
  throw new NoAnswerError('another-image', `${imageOf(container)} does not understand: ${said}`);
}

function noAnswerFrom(error: unknown, container: Container): NoAnswerError {
  const because = { cause: error };
  if (error instanceof ApiError)
    return new NoAnswerError('rejected', `exec is rejected: ${error.detail}`, because);
  if (error instanceof AnswerError)
    return new NoAnswerError('bad-answer', `its answer is not that of a proxy: ${error.message}`, because);
  if (error instanceof CommandStartError && /not found|no such file/i.test(error.message))
    return new NoAnswerError(
      'another-image',
      `no such program in ${imageOf(container)}: ${error.message}`,
      because,
    );
  return new NoAnswerError('failed', errorMessage(error), because);
}

function imageOf({ image }: Container): string {
  return `the image ${image ?? '(unknown)'}`;
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)!.trim();
}

export type Container = ReturnType<typeof container>;
export const container = fields({
  name: text,
  image: optional(text),
  command: optional(list(text)),
  args: optional(list(text)),
});

const waiting = optional(fields({ reason: optional(text) }));

const containerStatus = fields({
  name: text,
  state: optional(fields({ running: optional(fields({})), waiting, terminated: waiting })),
});

/** The part of a Pod that is read, as it comes from the API server. */
export type Pod = ReturnType<typeof podShape>;
export const podShape = fields({
  metadata: fields({
    name: text,
    namespace: text,
    creationTimestamp: optional(text),
    deletionTimestamp: optional(text),
  }),
  spec: optional(fields({ nodeName: optional(text), containers: optional(list(container)) })),
  status: optional(fields({ phase: optional(text), containerStatuses: optional(list(containerStatus)) })),
});

/** Flags by which the program beside a proxy finds it. */
const FINDING = /^--(config|metrics-bind-address|metrics-port)(=|$)/;

/** The container of the proxy: kubeadm's DaemonSet calls it `kube-proxy`, ours `kube-proxy-ts`. */
export function proxyContainer({ spec }: Pick<Pod, 'spec'>): Container | undefined {
  const containers = spec?.containers ?? [];
  return containers.find(({ name }) => name.startsWith('kube-proxy')) ?? containers[0];
}

/**
 * The command line of a query to the proxy in a container: the container's own program, and of its flags those by which the
 * proxy is found.
 */
export function queryLine(
  { command = [], args = [] }: Container,
  query: readonly string[],
): readonly string[] {
  const line = [...command, ...args];
  const flagsFrom = line.findIndex((word) => word.startsWith('-'));
  const program = command.length === 0 ? [] : flagsFrom === -1 ? line : line.slice(0, flagsFrom);
  const flags = line.flatMap((word, index) => {
    const [, , assigned] = FINDING.exec(word) ?? [];
    if (assigned === undefined) return [];
    return assigned === '=' ? [word] : line.slice(index, index + 2);
  });
  return [...(program.length > 0 ? program : ['kube-proxy']), ...query, ...flags];
}

/** Why a container does not run; undefined while it runs. */
export function notRunning({ status }: Pod, container: string): string | undefined {
  const state = status?.containerStatuses?.find(({ name }) => name === container)?.state;
  if (state?.running) return undefined;
  return state?.waiting?.reason ?? state?.terminated?.reason ?? status?.phase ?? 'Unknown';
}

/** The pod to query of those on one node: not one that is being deleted, nor one that does not run; of several the newest. */
export function podToQuery(pods: readonly Pod[]): Pod | undefined {
  const rank = (pod: Pod): string => {
    const runs = notRunning(pod, proxyContainer(pod)?.name ?? '') === undefined;
    const { deletionTimestamp, creationTimestamp = '' } = pod.metadata;
    return `${Number(runs)}${Number(deletionTimestamp === undefined)}${creationTimestamp}`;
  };
  return [...pods].sort((a, b) => (rank(a) < rank(b) ? 1 : -1))[0];
}
