import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type {
  V1ControllerRevision,
  V1DaemonSet,
  V1Node,
  V1NodeSelectorRequirement,
  V1Pod,
} from '@kubernetes/client-node';
import type { ApiObject, ObjectStore } from '../api-server/object-store.js';
import { collectionOf } from '../api-server/resource-path.js';
import { asStored, clusterAdmission } from './cluster-admission.js';

const APPS = 'apps/v1';
const HASH = 'controller-revision-hash';

/** The controller of DaemonSets: a pod for each node that the selector fits, rolling updates, revisions, status. */
export class DaemonSets {
  private readonly unsubscribe: () => void;
  private scheduled = false;

  constructor(private readonly store: ObjectStore) {
    this.unsubscribe = store.subscribe(() => this.schedule());
    this.schedule();
  }

  stop(): void {
    this.unsubscribe();
    this.scheduled = true;
  }

  /** Once for all changes of this turn. */
  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.reconcile();
    });
  }

  private reconcile(): void {
    const daemonSets = this.list<V1DaemonSet>(APPS, 'DaemonSet');
    const alive = new Set(daemonSets.map(({ metadata }) => metadata!.uid));
    const isOrphan = ({ metadata }: V1Pod | V1ControllerRevision): boolean =>
      metadata!.ownerReferences?.some(({ kind, uid }) => kind === 'DaemonSet' && !alive.has(uid)) ?? false;
    this.list<V1Pod>('v1', 'Pod')
      .filter(isOrphan)
      .forEach((pod) => this.end(pod));
    for (const revision of this.list<V1ControllerRevision>(APPS, 'ControllerRevision').filter(isOrphan))
      this.store.remove(collectionOf(APPS, 'ControllerRevision'), ...nameOf(revision));
    for (const daemonSet of daemonSets) this.reconcileOne(daemonSet);
  }

  private reconcileOne(daemonSet: V1DaemonSet): void {
    const hash = this.currentRevision(daemonSet);
    const nodes = this.list<V1Node>('v1', 'Node');
    const pods = this.list<V1Pod>('v1', 'Pod').filter((pod) => isOf(pod, daemonSet));
    const wanted = nodes.filter((node) => fits(node, daemonSet)).map(({ metadata }) => metadata!.name!);
    const on = (name: string): V1Pod | undefined => pods.find(({ spec }) => spec!.nodeName === name);
    for (const pod of pods) if (!wanted.includes(pod.spec!.nodeName!)) this.end(pod);
    for (const name of wanted) if (!on(name)) this.put(podOf(daemonSet, name, hash));
    const present = wanted.flatMap((name) => on(name) ?? []);
    const ready = present.filter(isReady);
    const old = present.filter(({ metadata }) => metadata!.labels![HASH] !== hash);
    const { type, rollingUpdate } = daemonSet.spec!.updateStrategy!;
    if (type === 'RollingUpdate') {
      const allowed = share(rollingUpdate?.maxUnavailable ?? 1, wanted.length);
      const away = wanted.length - ready.length;
      // Those that serve nobody cost nothing.
      const useless = old.filter((pod) => !isReady(pod));
      const next = old.filter(isReady).slice(0, Math.max(0, allowed - away));
      [...useless, ...next].forEach((pod) => this.end(pod));
    }
    this.report(daemonSet, {
      currentNumberScheduled: present.length,
      desiredNumberScheduled: wanted.length,
      numberMisscheduled: pods.length - present.length,
      numberReady: ready.length,
      numberAvailable: ready.length,
      numberUnavailable: wanted.length - ready.length,
      observedGeneration: daemonSet.metadata!.generation!,
      updatedNumberScheduled: present.length - old.length,
    });
  }

  /** The hash of the template as it is; a template that comes back gets a new number, as its revision is there already. */
  private currentRevision(daemonSet: V1DaemonSet): string {
    const { metadata, spec } = daemonSet;
    const data = { spec: { template: { ...spec!.template, $patch: 'replace' } } };
    const revisions = this.list<V1ControllerRevision>(APPS, 'ControllerRevision').filter((each) =>
      isOf(each, daemonSet),
    );
    const last = Math.max(0, ...revisions.map(({ revision }) => revision));
    const known = revisions.find((each) => isDeepStrictEqual(each.data, data));
    if (known && known.revision < last) this.put({ ...known, revision: last + 1 });
    if (known) return known.metadata!.labels![HASH]!;
    const hash = createHash('sha256').update(JSON.stringify(data)).digest('hex').slice(0, 10);
    this.put({
      apiVersion: APPS,
      kind: 'ControllerRevision',
      metadata: {
        name: `${metadata!.name}-${hash}`,
        namespace: metadata!.namespace!,
        labels: { ...spec!.template.metadata?.labels, [HASH]: hash },
        ownerReferences: [ownerOf(daemonSet)],
      },
      data,
      revision: last + 1,
    });
    return hash;
  }

  private report(daemonSet: V1DaemonSet, status: object): void {
    if (!isDeepStrictEqual(daemonSet.status, status)) this.store.put({ ...daemonSet, status } as never);
  }

  private end(pod: V1Pod): void {
    if (!pod.metadata!.deletionTimestamp) this.store.put(clusterAdmission.remove(pod as never)!);
  }

  private put(object: object): void {
    const { apiVersion, kind, metadata } = object as ApiObject;
    const before = this.store.get(collectionOf(apiVersion, kind), metadata.namespace, metadata.name);
    this.store.put(asStored(object as ApiObject, before));
  }

  private list<T>(apiVersion: string, kind: string): T[] {
    return this.store.list(collectionOf(apiVersion, kind)) as never;
  }
}

/** Whether the kubelet says that it serves. */
function isReady({ metadata, status }: V1Pod): boolean {
  const ready = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
  return Boolean(ready) && !metadata!.deletionTimestamp;
}

const nameOf = ({ metadata }: V1ControllerRevision): [string, string] => [
  metadata!.namespace!,
  metadata!.name!,
];

function isOf({ metadata }: V1Pod | V1ControllerRevision, daemonSet: V1DaemonSet): boolean {
  return metadata!.ownerReferences?.some(({ uid }) => uid === daemonSet.metadata!.uid) ?? false;
}

function ownerOf({ metadata }: V1DaemonSet): object {
  const { name, uid } = metadata!;
  return { apiVersion: APPS, kind: 'DaemonSet', name, uid, controller: true, blockOwnerDeletion: true };
}

/** Whether a node has the labels that the pods of a DaemonSet ask for. */
export function fits({ metadata }: V1Node, { spec }: V1DaemonSet): boolean {
  const { nodeSelector = {}, affinity = {} } = spec!.template.spec!;
  const { nodeAffinity, ...others } = affinity;
  const { requiredDuringSchedulingIgnoredDuringExecution: required, ...preferred } = nodeAffinity ?? {};
  if (Object.keys({ ...others, ...preferred }).length > 0)
    throw new Error('the stand-in knows required affinity to nodes only');
  const labels = metadata!.labels ?? {};
  return (
    Object.entries(nodeSelector).every(([key, value]) => labels[key] === value) &&
    (required === undefined ||
      required.nodeSelectorTerms.some(({ matchExpressions = [] }) =>
        matchExpressions.every((expression) => meets(labels, expression)),
      ))
  );
}

function meets(
  labels: Readonly<Record<string, string>>,
  { key, operator, values = [] }: V1NodeSelectorRequirement,
): boolean {
  const value = labels[key];
  if (operator === 'DoesNotExist') return value === undefined;
  if (operator === 'In') return value !== undefined && values.includes(value);
  throw new Error(`the stand-in does not know the operator ${operator}`);
}

/** A number, or a percentage of all, rounded up. */
function share(value: number | string, all: number): number {
  return typeof value === 'number' ? value : Math.ceil((Number.parseInt(value, 10) / 100) * all);
}

function podOf(daemonSet: V1DaemonSet, nodeName: string, hash: string): object {
  const { metadata, spec } = daemonSet;
  const { template } = spec!;
  const suffix = createHash('sha256').update(`${nodeName} ${Math.random()}`).digest('hex').slice(0, 5);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...template.metadata,
      name: `${metadata!.name}-${suffix}`,
      namespace: metadata!.namespace!,
      labels: { ...template.metadata?.labels, [HASH]: hash },
      ownerReferences: [ownerOf(daemonSet)],
    },
    spec: { ...template.spec, nodeName },
    status: { phase: 'Pending' },
  };
}
