import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLUSTER_CIDR, NODE_ADDRESS } from './cluster.js';
import { MemoryWatch } from './memory.js';

/** How a program ran: wall time from its start to its end, and the peak memory of it and its children. */
export interface Run {
  readonly milliseconds: number;
  readonly peakBytes: number;
  readonly output: string;
}

/** The line of the log, as text or JSON. */
const PROGRAMMED = /programmed everything.*IPv4|IPv4.*programmed everything/;

/** For a program to end after SIGTERM. */
const STOP_TIMEOUT_MS = 10_000;

/** A node to measure on: a network namespace with the node's address, which forwards packets, and nothing else. */
export class BenchHost {
  readonly #name = `bench-${process.pid}`;

  create(): void {
    this.remove();
    ip('netns', 'add', this.#name);
    ip('-n', this.#name, 'link', 'set', 'lo', 'up');
    ip('-n', this.#name, 'link', 'add', 'node0', 'type', 'veth', 'peer', 'name', 'node0p');
    ip('-n', this.#name, 'address', 'add', `${NODE_ADDRESS}/24`, 'dev', 'node0');
    ip('-n', this.#name, 'link', 'set', 'node0', 'up');
    ip('-n', this.#name, 'route', 'add', CLUSTER_CIDR, 'dev', 'node0');
    // A proxy warns of every Service where it is off.
    ip('netns', 'exec', this.#name, 'sysctl', '-qw', 'net.ipv4.ip_forward=1');
  }

  /** Kills the programs that still run on it, too. */
  remove(): void {
    if (!existsSync(`/run/netns/${this.#name}`)) return;
    for (const pid of ip('netns', 'pids', this.#name).split('\n').filter(Boolean))
      kill(Number(pid), 'SIGKILL');
    ip('netns', 'delete', this.#name);
  }

  /** In a process group of its own. */
  start(...command: string[]): ChildProcess {
    return spawn('ip', ['netns', 'exec', this.#name, ...command], { stdio: 'pipe', detached: true });
  }

  /** Ends a program and its children with SIGTERM, and with SIGKILL those that ignore it. */
  async stop(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    kill(-child.pid!, 'SIGTERM');
    await Promise.race([exited, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
    kill(-child.pid!, 'SIGKILL');
    await exited;
  }

  /** Runs the proxy until it says that everything is programmed, and stops it. */
  async runUntilProgrammed(...command: string[]): Promise<Run> {
    const began = performance.now();
    const child = this.start(...command);
    const memory = new MemoryWatch(child.pid ?? 0);
    const output = collect(child.stdout);
    const errors = collect(child.stderr);
    const exited = once(child, 'exit');
    const programmed = new Promise<void>((resolve) => {
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', () => {
          if (PROGRAMMED.test(output()) || PROGRAMMED.test(errors())) resolve();
        });
    });
    await Promise.race([programmed, exited]);
    const milliseconds = performance.now() - began;
    const peakBytes = memory.end();
    if (child.exitCode !== null)
      throw new Error(`${command.join(' ')} ended with status ${child.exitCode}:\n${errors()}${output()}`);
    await this.stop(child);
    return { milliseconds, peakBytes, output: output() };
  }

  /** Runs a program to its end. Rejects with its output if it does not exit with 0. */
  async run(...command: string[]): Promise<Run> {
    const began = performance.now();
    const child = this.start(...command);
    const memory = new MemoryWatch(child.pid ?? 0);
    const output = collect(child.stdout);
    const errors = collect(child.stderr);
    const exited = once(child, 'exit').then(([status]) => ({
      status,
      milliseconds: performance.now() - began,
    }));
    await once(child, 'close');
    const { status, milliseconds } = await exited;
    const peakBytes = memory.end();
    if (status !== 0)
      throw new Error(`${command.join(' ')} ended with status ${status}:\n${errors()}${output()}`);
    return { milliseconds, peakBytes, output: output() };
  }
}

/** The output of a stream so far. */
export function collect(stream: NodeJS.ReadableStream | null): () => string {
  let text = '';
  stream?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  return () => text;
}

function ip(...args: string[]): string {
  return execFileSync('ip', args, { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' });
}

/** A process, or with a negative number a group; one that has ended is ignored. */
function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
