import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CLUSTER_CIDR, NODE_NAME } from '../cluster.js';
import type { BenchHost } from '../host.js';
import { MemoryWatch } from '../memory.js';
import { countWrites } from '../writes.js';
import { processorTime } from './processor-time.js';
import type { Commands } from './api-server.js';
import type { Received } from './receive.js';

/** Measured with mode nftables at the stand-in API server. Milliseconds and bytes. */
export interface ServedFigures {
  /** What a client needs that just receives the lists. */
  readonly received: Received;
  /** From the start of the process to committed. */
  readonly start: number;
  readonly startPeak: number;
  /** The same with the rules of the process before. */
  readonly restart: number;
  readonly restartPeak: number;
  /** Transactions of nf_tables during that restart. */
  readonly restartWrites: number;
  /** The same after one object in a hundred changed meanwhile. */
  readonly changedRestart: number;
  /** Peak memory of 10,000 changes. */
  readonly changesPeak: number;
  /** Processor time of all threads for each of 2,000 changes at 50 a second. */
  readonly change: number;
  /** Share of a core while nothing happens. */
  readonly idle: number;
}

const program = (file: string): string => fileURLToPath(new URL(`server/${file}.js`, import.meta.url));

/** For a start; then the measurement fails. */
const START_LIMIT_MS = 600_000;
const SETTLE_MS = 8_000;
const IDLE_MS = 60_000;
const SINGLE = { count: 2_000, periodMs: 20 };
/** With the single ones, 10,000. */
const FURTHER = { count: 8_000, periodMs: 1 };

/** Measures the program, given as a command, on the host. */
export async function measureServed(
  host: BenchHost,
  kubeproxy: readonly string[],
  services: number,
  endpoints: number,
): Promise<ServedFigures> {
  host.create();
  const server = await Server.start(host, services, endpoints);
  try {
    const command = [...kubeproxy, '--proxy-mode', 'nftables', '--kubeconfig', server.kubeconfig];
    command.push('--hostname-override', NODE_NAME, '--cluster-cidr', CLUSTER_CIDR);
    const { output } = await host.run(process.execPath, program('receive'), server.kubeconfig);
    const start = await host.runUntilProgrammed(...command);
    const { result: restart, writes } = await countWrites(host, () => host.runUntilProgrammed(...command));
    await server.ask('replace', Math.ceil(services / 100), 0);
    const changedRestart = await host.runUntilProgrammed(...command);
    return {
      received: JSON.parse(output) as Received,
      start: start.milliseconds,
      startPeak: start.peakBytes,
      restart: restart.milliseconds,
      restartPeak: restart.peakBytes,
      restartWrites: writes,
      changedRestart: changedRestart.milliseconds,
      ...(await measureRunning(host, command, server)),
    };
  } finally {
    await server.stop();
  }
}

async function measureRunning(
  host: BenchHost,
  command: readonly string[],
  server: Server,
): Promise<Pick<ServedFigures, 'changesPeak' | 'change' | 'idle'>> {
  const proxy = host.start(...command);
  const pid = proxy.pid!;
  try {
    if ((await server.ask('healthy', START_LIMIT_MS)) === null)
      throw new Error(`${command.join(' ')} was not healthy within ${START_LIMIT_MS / 1000} s`);
    await sleep(SETTLE_MS);
    const settled = processorTime(pid);
    await sleep(IDLE_MS);
    const idle = processorTime(pid) - settled;
    const memory = new MemoryWatch(pid);
    const before = processorTime(pid);
    await server.ask('replace', SINGLE.count, SINGLE.periodMs);
    const change = (processorTime(pid) - before) / SINGLE.count;
    await server.ask('replace', FURTHER.count, FURTHER.periodMs);
    return { changesPeak: memory.end(), change, idle: idle / IDLE_MS };
  } finally {
    await host.stop(proxy);
  }
}

/** The stand-in API server, in a process of its own on the host. */
export class Server {
  private constructor(
    private readonly child: ChildProcess,
    private readonly lines: AsyncIterator<string>,
    readonly kubeconfig: string,
  ) {}

  static async start(host: BenchHost, services: number, endpoints: number): Promise<Server> {
    const child = host.start(process.execPath, program('api-server'), String(services), String(endpoints));
    child.stderr?.pipe(process.stderr);
    const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    return new Server(child, lines, await nextLine(lines));
  }

  async stop(): Promise<void> {
    this.child.kill();
    await once(this.child, 'exit');
    rmSync(dirname(this.kubeconfig), { recursive: true, force: true });
  }

  /** Runs a command of `api-server.ts`. */
  async ask<Name extends keyof Commands>(
    name: Name,
    ...numbers: Parameters<Commands[Name]>
  ): Promise<Awaited<ReturnType<Commands[Name]>>> {
    this.child.stdin!.write(`${[name, ...numbers].join(' ')}\n`);
    return JSON.parse(await nextLine(this.lines)) as Awaited<ReturnType<Commands[Name]>>;
  }
}

/** Rejects when the process has ended. */
async function nextLine(lines: AsyncIterator<string>): Promise<string> {
  const { value, done } = await lines.next();
  if (done) throw new Error('the stand-in API server ended; see its output above');
  return value;
}
