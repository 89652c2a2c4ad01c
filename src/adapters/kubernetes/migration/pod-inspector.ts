import { AnswerError, parseAnswer } from '../../../application/answers/parse-answer.js';
import { delay } from '../../../application/delay.js';
import type { Clock } from '../../../application/ports/clock.js';
import {
  InspectionError,
  type InspectedPlan,
  type NodeInspector,
} from '../../../application/ports/migration/node-inspector.js';
import { inspection, type Inspection } from '../../../domain/migration/inspection.js';
import { MigrationError } from '../../../domain/migration/migration-error.js';
import type { ProxyDaemonSet } from '../../../domain/migration/proxy-daemon-set.js';
import { anything, fields, text } from '../../../domain/shapes/shape.js';
import type { ApiClient } from '../client/api-client.js';
import { ApiError } from '../client/api-error.js';
import { coreRequests, listPods } from '../client/cluster-requests.js';
import { apiRequest, listAll, send } from '../client/send.js';
import { notRunning, podShape } from '../exec/proxy-pod.js';
import { containerOf } from './daemon-set.js';
import type { DaemonSets, FoundDaemonSet } from './daemon-sets.js';
import { INSPECTION_LABELS, inspectionPod } from './inspection-pod.js';

export interface PodInspectorOptions {
  /** The image to look with; missing: that of the DaemonSet, or of any that runs this program. */
  readonly image?: string;
  /** Milliseconds for one look. */
  readonly timeout: number;
}

/** Between two looks at a pod. Milliseconds. */
const PAUSE = 500;

type PodName = ReturnType<typeof created>['metadata'];
const created = fields({ metadata: fields({ name: text, namespace: text }) });

/** Looks at nodes by pods that print what they see and end. */
export class PodInspector implements NodeInspector {
  private found: Promise<readonly FoundDaemonSet[]> | undefined;

  constructor(
    private readonly client: ApiClient,
    private readonly sets: DaemonSets,
    private readonly clock: Clock,
    private readonly options: PodInspectorOptions,
  ) {}

  async inspect({ node, mode, moved, as }: InspectedPlan, signal: AbortSignal): Promise<Inspection> {
    // Templates do not change meanwhile.
    this.found ??= this.sets.list(signal);
    const found = await this.found.catch((error: unknown) => {
      this.found = undefined;
      throw error;
    });
    const { object } = found.find(({ proxy }) => proxy.name === as.name)!;
    const pod = inspectionPod(object, {
      node,
      mode,
      moved,
      image: this.imageFor(as, found),
      deadlineSeconds: Math.ceil(this.options.timeout / 1000),
    });
    signal.throwIfAborted();
    // Not aborted: what was created must be known, so that it can be deleted.
    const { metadata: own } = await send(
      this.client,
      coreRequests.createNamespacedPod(as.namespace, pod),
      created,
    );
    let said: Inspection;
    try {
      said = await this.outcome(own, node, signal);
    } catch (error) {
      await this.remove(own).catch(() => undefined);
      throw error;
    }
    await this.remove(own);
    return said;
  }

  /** Deletes the pods that have ended of a run that was killed. Those that still run end by themselves. @throws as ApiClient */
  async removeEnded(namespace: string, signal: AbortSignal): Promise<void> {
    const labelSelector = Object.entries(INSPECTION_LABELS).map((label) => label.join('='))[0];
    const pods = await listAll(this.client, listPods({ namespace, labelSelector }), podShape, { signal });
    for (const { metadata, status } of pods) if (hasEnded(status?.phase)) await this.remove(metadata);
  }

  private async outcome(
    { name, namespace }: PodName,
    node: string,
    signal: AbortSignal,
  ): Promise<Inspection> {
    const end = this.clock.steady() + this.options.timeout;
    let state: string;
    for (;;) {
      const pod = await send(this.client, coreRequests.readNamespacedPod(name, namespace), podShape, {
        signal,
      });
      if (hasEnded(pod.status?.phase)) break;
      state = notRunning(pod, 'inspect') ?? 'it runs';
      if (this.clock.steady() >= end)
        throw new InspectionError(
          `the pod that looks at ${node} did not end within ${this.options.timeout / 1000} s: ${state}`,
        );
      await delay(this.clock, PAUSE, signal);
      signal.throwIfAborted();
    }
    const read = coreRequests.readNamespacedPodLog(name, namespace);
    const log = await this.client.text(await apiRequest(read, { accept: '*/*', large: true, signal }));
    return inspectionIn(log, node);
  }

  /** Fine if it is gone already. */
  private async remove({ name, namespace }: PodName): Promise<void> {
    try {
      await send(
        this.client,
        coreRequests.deleteNamespacedPod(name, namespace, undefined, undefined, 0),
        anything,
      );
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 404)) throw error;
    }
  }

  private imageFor({ name }: ProxyDaemonSet, found: readonly FoundDaemonSet[]): string {
    const ours = found.filter(({ proxy }) => proxy.program === 'kube-proxy-ts');
    const chosen = ours.find(({ proxy }) => proxy.name === name) ?? ours[0];
    const image = this.options.image ?? (chosen && containerOf(chosen.object)?.image);
    if (image !== undefined) return image;
    throw new MigrationError(
      'no DaemonSet runs this program yet, so there is no image to look at nodes with; name one with --image',
    );
  }
}

/** Standard error is in the log, too. */
function inspectionIn(log: string, node: string): Inspection {
  const [found] = /^\{$[^]*^\}$/m.exec(log) ?? [];
  if (found === undefined) {
    const last = log.trimEnd().split('\n').at(-1) ?? '';
    throw new InspectionError(`the pod that looks at ${node} failed: ${last || 'it said nothing'}`);
  }
  try {
    return parseAnswer(found, inspection);
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error;
    throw new InspectionError(`the pod that looks at ${node} has another version: ${error.message}`);
  }
}

function hasEnded(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}
