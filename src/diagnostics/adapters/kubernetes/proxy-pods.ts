import { AnswerError } from '../../application/parse-answer.js';
import { fields, text } from '../../../domain/shape.js';
import { errorMessage } from '../../../application/error-message.js';
import {
  NoAnswerError,
  type FoundProxies,
  type NodeProxies,
  type NodeProxy,
  type ProxyQuestion,
} from '../../application/ports/node-proxies.js';
import type { ApiClient } from '../../../adapters/kubernetes/client/api-client.js';
import { ApiError } from '../../../adapters/kubernetes/client/api-error.js';
import { listLinuxNodes, listPods } from './cluster-requests.js';
import { listAll } from '../../../adapters/kubernetes/client/send.js';
import { CommandStartError, type CommandOutcome } from './command-outcome.js';
import type { PodExec } from './pod-exec.js';
import {
  notRunning,
  podShape,
  podToAsk,
  proxyContainer,
  questionLine,
  type Container,
  type Pod,
} from './proxy-pod.js';

/** Which pods are proxies. */
export interface ProxyPodsOptions {
  readonly namespace: string;
  /** A label selector. */
  readonly selector: string;
}

/** Nodes need nothing but their names. */
const NAMES_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

const nodeObject = fields({ metadata: fields({ name: text }) });

/** The proxies that run as pods of a DaemonSet, asked by exec with the rights of whoever asks. */
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
        const pod = podToAsk(there);
        return { node, ask: (question) => this.ask(pod, question) };
      }),
      unknown,
    };
  }

  private async ask(pod: Pod | undefined, { words, timeout }: ProxyQuestion): Promise<string> {
    const container = pod && proxyContainer(pod);
    if (!pod || !container) throw new NoAnswerError('absent', 'no pod of a proxy is on this node');
    const { name, namespace } = pod.metadata;
    const state = notRunning(pod, container.name);
    if (state !== undefined) throw new NoAnswerError('not-running', `the pod ${name} does not run: ${state}`);
    const place = { namespace, pod: name, container: container.name };
    const signal = AbortSignal.timeout(timeout);
    try {
      return answerOf(await this.exec.run(place, questionLine(container, words), signal), container);
    } catch (error) {
      if (error instanceof NoAnswerError) throw error;
      if (signal.aborted)
        throw new NoAnswerError('timeout', `no answer within ${timeout / 1000} s`, { cause: error });
      throw silenceOf(error, container);
    }
  }
}

/**
 * What the program printed, whatever its exit code says about the proxy.
 * @throws NoAnswerError if that is nothing
 */
function answerOf({ stdout, stderr, exitCode }: CommandOutcome, container: Container): string {
  if (stdout.trim() !== '') return stdout;
  const said = lastLine(stderr) || `it ended with ${exitCode} and said nothing`;
  // Our own program says with 3 that it could not ask.
  if (exitCode === 3) throw new NoAnswerError('failed', said);
  throw new NoAnswerError('another-image', `${imageOf(container)} does not understand: ${said}`);
}

function silenceOf(error: unknown, container: Container): NoAnswerError {
  const because = { cause: error };
  if (error instanceof ApiError)
    return new NoAnswerError('refused', `exec refused: ${error.detail}`, because);
  if (error instanceof AnswerError)
    return new NoAnswerError('bad-answer', `its answer is none of a proxy: ${error.message}`, because);
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
