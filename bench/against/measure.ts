import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchMode, prepare, proxyMode } from '../bench-mode.js';
import { CLUSTER_CIDR, NODE_NAME, SERVICE_CIDR } from '../cluster.js';
import { type BenchHost, collect } from '../host.js';
import { MemoryWatch } from '../memory.js';
import { Server } from '../server/measure.js';
import { now } from '../server/probe.js';
import { processorTimeOfFamily } from '../server/processor-time.js';
import { generation } from '../writes.js';
import { type Comparison, type Run, summarize } from './report.js';

/** A service proxy that takes kube-proxy's flags `--config` and `--version`. */
export interface Program {
  readonly name: string;
  readonly command: readonly string[];
}

/** Both programs, in the order in which they take turns, and how to measure them. */
export interface Plan {
  readonly programs: readonly Program[];
  readonly mode: BenchMode;
  readonly services: number;
  readonly endpoints: number;
  readonly runs: number;
  /** For everything that is waited for. */
  readonly limitSeconds: number;
  /** For temporary files. */
  readonly folder: string;
}

/** A program cannot be run, ended, or does nothing. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
}

const CHANGES = 20;
/** Longer than the pause that kube-proxy makes between two syncs by default. */
const PAUSE_MS = 1_500;
const VERSION_TIMEOUT_MS = 10_000;
const SHOWN_LINES = 10;
/** For the last output of a program that has ended, of which a child may hold the pipe open. */
const OUTPUT_TIMEOUT_MS = 500;

/** Measures both programs in turn from outside: by connections, /healthz, proc(5), and the transactions of nf_tables. */
export async function compare(host: BenchHost, plan: Plan): Promise<Comparison> {
  const { mode, services, endpoints, limitSeconds, programs, folder } = plan;
  process.env.PATH = `${linkTools(folder, mode)}${delimiter}${process.env.PATH}`;
  host.create();
  const versions = await Promise.all(programs.map((program) => versionOf(host, program)));
  const measured: Run[][] = programs.map(() => []);
  for (let run = 0; run < plan.runs; run++)
    for (const [index, program] of programs.entries()) {
      console.error(`run ${run + 1} of ${plan.runs}: ${program.name} …`);
      measured[index]!.push(await measureOnce(host, plan, program));
    }
  return {
    mode,
    services,
    endpoints,
    limitSeconds,
    programs: programs.map(({ name }, index) => summarize(name, versions[index]!, measured[index]!)),
  };
}

/** A folder in which `iptables` and its companions are those of the mode, for programs that do not choose themselves. */
function linkTools(folder: string, mode: BenchMode): string {
  const tools = join(folder, `${mode}-tools`);
  mkdirSync(tools);
  if (proxyMode(mode) !== 'iptables') return tools;
  for (const tool of ['iptables', 'ip6tables'])
    for (const suffix of ['', '-save', '-restore']) {
      const path = execFileSync('which', [`${mode.replace('iptables', tool)}${suffix}`], {
        encoding: 'utf8',
      });
      symlinkSync(path.trim(), join(tools, tool + suffix));
    }
  return tools;
}

async function versionOf(host: BenchHost, { command }: Program): Promise<string> {
  const path = command.at(-1)!;
  const timeout = sleep(VERSION_TIMEOUT_MS, undefined, { ref: false }).then(() => {
    throw new Error(`${path} --version did not end within ${VERSION_TIMEOUT_MS / 1000} s`);
  });
  try {
    const { output } = await Promise.race([host.run(...command, '--version'), timeout]);
    return output.trim().split('\n')[0]!;
  } catch (error) {
    throw new ProgramError((error as Error).message.trim());
  }
}

async function measureOnce(host: BenchHost, plan: Plan, program: Program): Promise<Run> {
  const { mode, services, endpoints, limitSeconds } = plan;
  const limit = limitSeconds * 1_000;
  await prepare(host, mode);
  for (const range of [CLUSTER_CIDR, SERVICE_CIDR])
    await host.run('ip', 'route', 'add', 'local', range, 'dev', 'lo');
  const server = await Server.start(host, services, endpoints);
  const command = [...program.command, '--config', writeConfiguration(plan, server.kubeconfig)];
  try {
    const start = await whileRunning(host, command, async (proxy, began) => {
      const memory = new MemoryWatch(proxy.pid!);
      const served = await server.ask('served', limit);
      const processor = processorTimeOfFamily(proxy.pid!);
      return { start: since(began, served), peak: memory.end(), processor };
    });
    if (start.start === null) {
      if ((await server.ask('requests')) === 0)
        throw new ProgramError(
          `${program.command.at(-1)} sent no request to the API server in ${limitSeconds} s`,
        );
      return { start: null, changes: [] };
    }
    const before = await generation(host);
    return await whileRunning(host, command, async (_, began) => {
      const healthy = await server.ask('healthy', limit);
      if (healthy === null) return { ...start, healthy, changes: [] };
      const { reached } = await server.ask('move', limit);
      const transactions = mode === 'iptables-legacy' ? undefined : (await generation(host)) - before;
      const changes = reached === null ? [] : await replaceInTurn(server, limit);
      return {
        ...start,
        healthy: since(began, healthy),
        restart: since(began, reached),
        transactions,
        changes,
      };
    });
  } finally {
    await server.stop();
  }
}

/** Fewer changes if they take long. */
async function replaceInTurn(server: Server, limit: number): Promise<(number | null)[]> {
  const times: (number | null)[] = [];
  const end = now() + limit;
  while (times.length < CHANGES && now() < end && !times.includes(null)) {
    await sleep(PAUSE_MS);
    const { sent, reached } = await server.ask('move', limit);
    times.push(since(sent, reached));
  }
  return times;
}

function since(began: number, moment: number | null): number | null {
  return moment === null ? null : moment - began;
}

/** The limits of connection tracking belong to the whole machine. */
function writeConfiguration({ mode, folder }: Plan, kubeconfig: string): string {
  const file = join(folder, 'config.yaml');
  const configuration = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: proxyMode(mode),
    clusterCIDR: CLUSTER_CIDR,
    hostnameOverride: NODE_NAME,
    clientConnection: { kubeconfig },
    conntrack: { maxPerCore: 0, min: 0 },
  };
  writeFileSync(file, JSON.stringify(configuration));
  return file;
}

/** Uses a program that was started at the given moment. Rejects with ProgramError if it ends meanwhile. */
async function whileRunning<Result>(
  host: BenchHost,
  command: readonly string[],
  use: (child: ChildProcess, began: number) => Promise<Result>,
): Promise<Result> {
  const began = now();
  const child = host.start(...command);
  const [output, errors] = [collect(child.stdout), collect(child.stderr)];
  const closed = once(child, 'close');
  const ended = once(child, 'exit').then(async ([status, signal]) => {
    await Promise.race([closed, sleep(OUTPUT_TIMEOUT_MS)]);
    const lines = (output() + errors()).trim().split('\n').slice(-SHOWN_LINES);
    throw new ProgramError(
      [`${command.join(' ')} ended with ${signal ?? `status ${status}`}`, ...lines].join('\n'),
    );
  });
  try {
    return await Promise.race([use(child, began), ended]);
  } finally {
    await host.stop(child);
  }
}
