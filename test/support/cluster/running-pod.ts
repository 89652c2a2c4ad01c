import type { V1Container, V1Pod } from '@kubernetes/client-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { builtProxy } from '../program/built-proxy.js';
import { containerCommandLine } from '../container/command-line.js';
import type { Host } from '../testbed/host.js';
import { ContainerProcess } from './container-process.js';
import { ACCOUNT_MOUNT, type PodVolumes } from './pod-volumes.js';

/** The machine's own files stand for those of the image, whose program is run from `dist`. */
const machine = (hosts: string): string[] => [
  ...['--ro-bind', '/', '/', '--tmpfs', '/var/lib'],
  ...['--ro-bind', hosts, '/etc/hosts'],
];
const PROGRAM = /^(?:\/usr\/local\/bin\/)?kube-proxy$/;

/** How the kubelet says that a pod is. */
export interface PodState {
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed';
  readonly ready: boolean;
  readonly restarts: number;
  /** Why a container waits. */
  readonly waiting?: string;
}

/** Where a pod runs. */
export interface PodNode {
  readonly host: Host;
  readonly address: string;
  /** The file of names that containers see. */
  readonly hosts: string;
}

/** What runs a pod of our image: its init containers, then its first container, again and again, until it is stopped. */
export class RunningPod {
  private process: ContainerProcess | undefined;
  private stopped = false;
  private restarts = 0;
  private earlierLog = '';

  constructor(
    private readonly pod: V1Pod,
    private readonly node: PodNode,
    private readonly volumes: PodVolumes,
    private readonly report: (state: PodState) => void,
  ) {}

  get log(): string {
    return this.earlierLog + (this.process?.log ?? '');
  }

  /** Until it is stopped, or has ended and is not to be started again. */
  async run(): Promise<void> {
    const [container] = this.pod.spec!.containers;
    for (const each of this.pod.spec!.initContainers ?? []) await this.initialize(each);
    while (!this.stopped) {
      const process = await this.start(container!);
      void this.watchReadiness(process, container!);
      const exitCode = await process.end();
      this.earlierLog += process.log;
      this.process = undefined;
      if (this.stopped) return;
      if (this.pod.spec!.restartPolicy !== 'Always')
        return this.tell({ phase: exitCode === 0 ? 'Succeeded' : 'Failed', ready: false });
      this.restarts += 1;
      this.tell({ phase: 'Running', ready: false, waiting: 'CrashLoopBackOff' });
      await sleep(200);
    }
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.process?.stop();
  }

  /** The command line that runs a program of the image beside what runs; undefined: the image has no such program. */
  async commandLine(container: V1Container, command: readonly string[]): Promise<string[] | undefined> {
    if (!PROGRAM.test(command[0] ?? '')) return undefined;
    const { places } = this.volumes;
    // The machine's own folders, such as its kernel modules, are there anyway.
    const mounted = (container.volumeMounts ?? []).filter(({ name }) => name in places);
    const volumeMounts = [...mounted, ACCOUNT_MOUNT];
    const runnable = { ...container, command: [...command], volumeMounts };
    return containerCommandLine(this.node.host, runnable, {
      root: machine(this.node.hosts),
      volumes: places,
      fieldValue: (name) => (name === 'POD_IP' ? this.node.address : this.pod.spec!.nodeName!),
      program: [process.execPath, await builtProxy()],
    });
  }

  private async initialize(container: V1Container): Promise<void> {
    while (!this.stopped) {
      const process = await this.start(container);
      if ((await process.end()) === 0) return;
      this.tell({ phase: 'Pending', ready: false, waiting: 'Init:CrashLoopBackOff' });
      await sleep(200);
    }
  }

  private async start(container: V1Container): Promise<ContainerProcess> {
    const command = [...(container.command ?? ['kube-proxy']), ...(container.args ?? [])];
    const line = await this.commandLine(container, command);
    if (!line) throw new Error(`the stand-in for the image has no ${command[0]}`);
    this.process = new ContainerProcess(line);
    if (this.stopped) await this.process.stop();
    return this.process;
  }

  /** Without a readiness probe, what runs is ready. */
  private async watchReadiness(
    process: ContainerProcess,
    { readinessProbe, ports }: V1Container,
  ): Promise<void> {
    let known: boolean | undefined;
    while (this.process === process && !this.stopped) {
      const ready = readinessProbe ? await this.answers(readinessProbe.httpGet!, ports) : true;
      if (ready !== known && this.process === process) this.tell({ phase: 'Running', ready });
      known = ready;
      if (!readinessProbe) return;
      await sleep(ready ? 250 : 50);
    }
  }

  private async answers(
    { path, port }: { path?: string; port: number | string },
    ports: V1Container['ports'] = [],
  ): Promise<boolean> {
    const number = typeof port === 'number' ? port : ports.find(({ name }) => name === port)?.containerPort;
    return this.node.host.get(`http://127.0.0.1:${number}${path}`).then(
      ({ status }) => status === 200,
      () => false,
    );
  }

  private tell(state: Omit<PodState, 'restarts'>): void {
    if (!this.stopped) this.report({ ...state, restarts: this.restarts });
  }
}
