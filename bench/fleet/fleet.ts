import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiObserver } from '../../src/adapters/kubernetes/client/api-client.js';
import { FleetNode } from './fleet-node.js';
import type { ServerWork } from './fleet-server.js';
import { ServerProcess } from './server-process.js';

export interface FleetSize {
  readonly nodes: number;
  readonly services: number;
  /** Of each service. */
  readonly endpoints: number;
}

/** What an event in the life of a cluster cost. */
export interface Cost extends ServerWork {
  readonly event: string;
  /** Until everything was as it should be again. Milliseconds. */
  readonly duration: number;
  /** Processor time of all nodes together. Milliseconds. */
  readonly nodesProcessor: number;
  /** Objects delivered to all nodes together. */
  readonly delivered: number;
}

/** Gives up when something has not happened after this time. Milliseconds. */
const PATIENCE = 300_000;
const POLL = 10;

const IGNORED: ApiObserver = { answered() {}, waited() {} };

/** Simulated nodes in this process, and a stand-in API server in another. */
export class Fleet {
  private nodes: readonly FleetNode[] = [];

  private constructor(
    readonly server: ServerProcess,
    readonly size: FleetSize,
    private readonly kubeconfig: string,
  ) {}

  /** @param program path of `server.ts`, built */
  static async start(program: string, size: FleetSize): Promise<Fleet> {
    const server = await ServerProcess.start(program, size.services, size.endpoints);
    return new Fleet(server, size, await server.ask('kubeconfig'));
  }

  /** Starts all nodes at once; they list everything. */
  async startNodes(streamLists: boolean): Promise<void> {
    this.nodes = Array.from(
      { length: this.size.nodes },
      () => new FleetNode(this.kubeconfig, streamLists, IGNORED),
    );
    await Promise.all(this.nodes.map((node) => node.start()));
  }

  async stopNodes(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
    this.nodes = [];
  }

  async stop(): Promise<void> {
    await this.stopNodes();
    await this.server.stop();
  }

  /** Every node has everything and watches. */
  current(): Promise<void> {
    return until('all nodes are current', () => this.nodes.every(({ current }) => current));
  }

  /** No node watches. */
  cutOff(): Promise<void> {
    return until('all nodes are cut off', () => this.nodes.every(({ cutOff }) => cutOff));
  }

  /** The nodes have received so many objects, all together. */
  delivery(objects: number): Promise<void> {
    return until(`${objects} objects are delivered`, () => this.delivered >= objects);
  }

  /** All nodes have asked for all their watches since the last mark. */
  async renewal(): Promise<void> {
    const end = Date.now() + PATIENCE;
    while ((await this.server.ask('work')).requests.length < 4 * this.size.nodes) {
      if (Date.now() > end) throw new Error('the nodes did not renew their watches');
      await sleep(POLL);
    }
    await this.current();
  }

  /** Counts what an event costs. */
  async measure(event: string, happen: () => Promise<void>): Promise<Cost> {
    const delivered = this.delivered;
    await this.server.ask('mark');
    const before = process.cpuUsage();
    const begun = performance.now();
    await happen();
    const duration = performance.now() - begun;
    const { user, system } = process.cpuUsage(before);
    const work = await this.server.ask('work');
    return {
      ...work,
      event,
      duration,
      nodesProcessor: (user + system) / 1000,
      delivered: this.delivered - delivered,
    };
  }

  get delivered(): number {
    return this.nodes.reduce((sum, { delivered }) => sum + delivered, 0);
  }
}

async function until(what: string, condition: () => boolean): Promise<void> {
  const end = Date.now() + PATIENCE;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`waited ${PATIENCE} ms in vain until ${what}`);
    await sleep(POLL);
  }
}
