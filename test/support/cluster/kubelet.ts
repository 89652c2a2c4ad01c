import { execa } from 'execa';
import type { V1Pod } from '@kubernetes/client-node';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StandInApiServer } from '../api-server/api-server.js';
import type { ContainerCommand, Executed } from '../api-server/container-commands.js';
import { collectionOf } from '../api-server/resource-path.js';
import type { Host } from '../testbed/host.js';
import { PodVolumes } from './pod-volumes.js';
import { RunningPod, type PodState } from './running-pod.js';

/** A node of the stand-in cluster. */
export interface ClusterNode {
  readonly name: string;
  /** The network that its pods run in. */
  readonly host: Host;
  /** Its address in the cluster. */
  readonly address: string;
  /** What starting a pod of kube-proxy itself does on this node, of which there is no program: such as loading its rules. */
  readonly startKubeProxy?: (config: string) => Promise<void>;
}

/** A pod from its creation to its end. */
interface PodOfNode {
  /** Once its volumes are there, if its image is ours. */
  running?: RunningPod;
  /** Resolves when nothing of it runs or is written any more. */
  readonly over: Promise<void>;
}

const PODS = collectionOf('v1', 'Pod');
const OURS = /(^|\/)kube-proxy-ts[:@]/;
const KUBE_PROXY = /(^|\/)kube-proxy[:@]/;
/** Of which there is no program either. */
const NEIGHBOURS = /(^|\/)(kube-router|cilium)[:@]/;

/**
 * The kubelet of one node. Pods of our image run the built program in the node's network, with their command, capabilities,
 * config maps and token; a pod of kube-proxy's image, and of programs that have served in its place, is just ready.
 */
export class Kubelet {
  /** By their UIDs. */
  private readonly pods = new Map<string, PodOfNode>();
  private readonly work = new Set<Promise<void>>();
  private readonly unsubscribe: () => void;
  /** Images that this node can get besides those of registries; undefined: all can be pulled. */
  images: Set<string> | undefined;

  constructor(
    private readonly api: StandInApiServer,
    readonly node: ClusterNode,
    private readonly folder: string,
    /** What containers on this node find in /etc/hosts. */
    private readonly names: string,
  ) {
    this.unsubscribe = api.store.subscribe(({ after, removed }) => {
      if (after.kind === 'Pod' && !removed) this.consider(after as never);
    });
  }

  /** Stops all pods; their objects stay. */
  async stop(): Promise<void> {
    this.unsubscribe();
    const pods = [...this.pods.values()];
    this.pods.clear();
    await Promise.all(pods.flatMap(({ running }) => running?.stop() ?? []));
    await Promise.all(this.work);
  }

  /** Runs a command in a container of one of its pods; undefined: that pod is not here. */
  async execute({
    namespace,
    pod: name,
    container,
    command,
  }: ContainerCommand): Promise<Executed | undefined> {
    const pod = this.api.store.get(PODS, namespace, name) as V1Pod | undefined;
    if (pod?.spec?.nodeName !== this.node.name) return undefined;
    const running = this.pods.get(pod.metadata!.uid!)?.running;
    const { containers } = pod.spec;
    const chosen = containers.find((each) => each.name === container) ?? containers[0]!;
    if (!running) return { exitCode: 1, stderr: "Error: unknown shorthand flag: 'o' in -o\n" };
    const line = await running.commandLine(chosen, command);
    if (!line) return { failure: `exec: "${command[0]}": executable file not found in $PATH` };
    const { exitCode, stdout, stderr } = await execa(line[0]!, line.slice(1), {
      reject: false,
      stdin: 'ignore',
    });
    return { exitCode: exitCode ?? 137, stdout: `${stdout}\n`, stderr: stderr && `${stderr}\n` };
  }

  /** What a pod has logged; undefined: it is not here. */
  log(uid: string): string | undefined {
    return this.pods.has(uid) ? (this.pods.get(uid)?.running?.log ?? '') : undefined;
  }

  private consider(pod: V1Pod): void {
    if (pod.spec?.nodeName !== this.node.name) return;
    const uid = pod.metadata!.uid!;
    if (pod.metadata!.deletionTimestamp) this.begin(this.end(pod));
    else if (!this.pods.has(uid)) {
      const over = Promise.resolve().then(() => this.start(pod));
      this.pods.set(uid, { over });
      this.begin(over);
    }
  }

  private begin(work: Promise<void>): void {
    const kept: Promise<void> = work.finally(() => this.work.delete(kept));
    this.work.add(kept);
  }

  private async start(pod: V1Pod): Promise<void> {
    const { metadata, spec } = pod;
    const image = spec!.containers[0]!.image!;
    const volumes = new PodVolumes(this.api, pod, join(this.folder, metadata!.uid!));
    await writeFile(this.file('xtables.lock'), '', { flag: 'a' });
    await writeFile(this.file('hosts'), this.names);
    await volumes.prepare(this.file('xtables.lock'));
    const here = this.pods.get(metadata!.uid!);
    if (!here) return;
    if (KUBE_PROXY.test(image)) {
      await this.node.startKubeProxy?.(this.configOf(pod));
      return this.report(pod, { phase: 'Running', ready: true, restarts: 0 });
    }
    if (NEIGHBOURS.test(image)) return this.report(pod, { phase: 'Running', ready: true, restarts: 0 });
    if (!OURS.test(image) || this.images?.has(image) === false)
      return this.report(pod, { phase: 'Pending', ready: false, restarts: 0, waiting: 'ErrImagePull' });
    const { host, address } = this.node;
    const node = { host, address, hosts: this.file('hosts') };
    const running = new RunningPod(pod, node, volumes, (state) => this.report(pod, state));
    here.running = running;
    let updated = Promise.resolve();
    const unsubscribe = this.api.store.subscribe(({ after }) => {
      if (after.kind === 'ConfigMap') updated = updated.then(() => volumes.update());
    });
    try {
      await running.run();
    } finally {
      unsubscribe();
      await updated;
    }
  }

  private async end(pod: V1Pod): Promise<void> {
    const { namespace, name, uid } = pod.metadata!;
    const here = this.pods.get(uid!);
    if (!here) return;
    this.pods.delete(uid!);
    await here.running?.stop();
    await here.over;
    this.api.store.remove(PODS, namespace, name!);
    await rm(join(this.folder, uid!), { recursive: true, force: true });
  }

  /** What the pod's config map says, of whichever name. */
  private configOf({ metadata, spec }: V1Pod): string {
    const name = spec!.volumes?.find(({ configMap }) => configMap)?.configMap?.name;
    const map = name && this.api.store.get(collectionOf('v1', 'ConfigMap'), metadata!.namespace, name);
    return ((map || {}) as { data?: Record<string, string> }).data?.['config.conf'] ?? '';
  }

  private file(name: string): string {
    return join(this.folder, `${this.node.name}-${name}`);
  }

  private report(pod: V1Pod, { phase, ready, restarts, waiting }: PodState): void {
    const { namespace, name, uid } = pod.metadata!;
    const now = this.api.store.get(PODS, namespace, name!);
    if (!now || now.metadata.uid !== uid || now.metadata.deletionTimestamp) return;
    const { name: container, image } = pod.spec!.containers[0]!;
    const ended = phase === 'Succeeded' || phase === 'Failed';
    const state = waiting
      ? { waiting: { reason: waiting } }
      : ended
        ? { terminated: { exitCode: phase === 'Succeeded' ? 0 : 1, reason: 'Completed' } }
        : { running: { startedAt: new Date().toISOString() } };
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
    const { address } = this.node;
    this.api.store.put({
      ...now,
      status: {
        phase,
        conditions,
        hostIP: address,
        podIP: address,
        containerStatuses: [{ name: container, image, imageID: image, ready, restartCount: restarts, state }],
      },
    });
  }
}
