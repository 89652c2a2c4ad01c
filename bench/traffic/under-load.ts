import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CLUSTER_CIDR, NODE_NAME } from '../cluster.js';
import type { BenchHost } from '../host.js';
import { writeManifests } from '../manifests.js';
import { processorTime } from '../server/processor-time.js';

/** What the kernel tracks. */
export interface Load {
  /** From the start to the end. */
  readonly connections: number;
  /** New ones, each of which is answered, and gone after a second. */
  readonly perSecond: number;
  /** For how long new ones come. */
  readonly seconds: number;
  /** Of the proxy. */
  readonly flags?: readonly string[];
}

const SERVICES = 100;
const ENDPOINTS = 5;
const SETTLE_MS = 8_000;
const LIMIT = '/proc/sys/net/netfilter/nf_conntrack_max';
const load = fileURLToPath(new URL('traffic/load.js', import.meta.url));

/** The share of a core that a process takes meanwhile. */
export async function coreShare(pid: number, until: () => Promise<unknown>): Promise<number> {
  const [time, used] = [performance.now(), processorTime(pid)];
  await until();
  return (processorTime(pid) - used) / (performance.now() - time);
}

export function percent(part: number): string {
  return `${(100 * part).toFixed(1)}%`;
}

/**
 * Measures the program, given as a command, while the kernel tracks connections to its Services. The machine's limit of connections
 * is raised meanwhile.
 * @param measure is given the id of the process
 */
export async function underLoad<Figures>(
  host: BenchHost,
  kubeproxy: readonly string[],
  { connections, perSecond, seconds, flags = [] }: Load,
  measure: (pid: number) => Promise<Figures>,
): Promise<Figures> {
  const folder = await mkdtemp(join(tmpdir(), 'kubeproxy-traffic-'));
  const limit = readFileSync(LIMIT, 'utf8');
  const restore = (): void => writeFileSync(LIMIT, limit);
  process.once('exit', restore);
  writeFileSync(LIMIT, String(Math.max(Number(limit), 2 * connections)));
  host.create();
  const sizes = [connections, perSecond, seconds, SERVICES, ENDPOINTS].map(String);
  const loading = host.start(process.execPath, load, ...sizes);
  loading.stderr?.pipe(process.stderr);
  try {
    await once(createInterface({ input: loading.stdout! }), 'line');
    const manifests = join(folder, 'manifests');
    await writeManifests(manifests, SERVICES, ENDPOINTS);
    const settings = ['--proxy-mode', 'nftables', '--manifests', manifests];
    return await withProxy(host, [...kubeproxy, ...settings, ...flags], async (pid) => {
      await sleep(SETTLE_MS);
      loading.stdin!.write('\n');
      return measure(pid);
    });
  } finally {
    loading.kill();
    rmSync(folder, { recursive: true, force: true });
    process.off('exit', restore);
    restore();
  }
}

/** Runs a proxy with this command line, which has the mode and the manifests, while it is used. */
export async function withProxy<Result>(
  host: BenchHost,
  commandLine: readonly string[],
  use: (pid: number) => Promise<Result>,
): Promise<Result> {
  const shared = [
    '--hostname-override',
    NODE_NAME,
    '--cluster-cidr',
    CLUSTER_CIDR,
    '--conntrack-max-per-core',
    '0',
  ];
  const proxy = host.start(...commandLine, ...shared);
  proxy.stdout?.resume();
  proxy.stderr?.resume();
  try {
    return await use(proxy.pid!);
  } finally {
    await host.stop(proxy);
  }
}
