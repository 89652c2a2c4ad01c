import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { TrafficReport } from '../../src/domain/traffic/traffic-report.js';
import { CLUSTER_CIDR, NODE_NAME } from '../cluster.js';
import { collect, type BenchHost } from '../host.js';
import { writeManifests } from '../manifests.js';
import { MemoryWatch } from '../memory.js';
import { processorTime } from '../server/processor-time.js';

/** What counting costs. */
interface TrafficFigures {
  /** Shares of a core: while nobody watches, until everything has been read once, and afterwards. */
  readonly idle: number;
  readonly first: number;
  readonly later: number;
  /** From the first watcher until everything had been read once, in seconds. */
  readonly complete: number;
  readonly peakBytes: number;
  readonly last: TrafficReport;
}

const CONNECTIONS = 1_000_000;
const PER_SECOND = 10_000;
const SERVICES = 100;
const ENDPOINTS = 5;
const SETTLE_MS = 8_000;
const LATER_MS = 20_000;
const LOAD_SECONDS = 150;
const LIMIT = '/proc/sys/net/netfilter/nf_conntrack_max';
const load = fileURLToPath(new URL('traffic/load.js', import.meta.url));

/** Measures the program, given as a command. The machine's limit of connections is raised meanwhile. */
export async function measureTraffic(host: BenchHost, kubeproxy: readonly string[]): Promise<TrafficFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'kubeproxy-traffic-'));
  const limit = readFileSync(LIMIT, 'utf8');
  const restore = (): void => writeFileSync(LIMIT, limit);
  process.once('exit', restore);
  writeFileSync(LIMIT, String(Math.max(Number(limit), 2 * CONNECTIONS)));
  host.create();
  const sizes = [CONNECTIONS, PER_SECOND, LOAD_SECONDS, SERVICES, ENDPOINTS].map(String);
  const loading = host.start(process.execPath, load, ...sizes);
  loading.stderr?.pipe(process.stderr);
  try {
    await once(createInterface({ input: loading.stdout! }), 'line');
    const manifests = join(folder, 'manifests');
    await writeManifests(manifests, SERVICES, ENDPOINTS);
    const settings = ['--proxy-mode', 'nftables', '--manifests', manifests, '--hostname-override', NODE_NAME];
    const proxy = host.start(
      ...kubeproxy,
      ...settings,
      '--cluster-cidr',
      CLUSTER_CIDR,
      '--conntrack-max-per-core',
      '0',
    );
    proxy.stderr?.resume();
    try {
      await sleep(SETTLE_MS);
      loading.stdin!.write('\n');
      return await measureCounting(host, kubeproxy, proxy.pid!);
    } finally {
      proxy.kill();
      await once(proxy, 'exit');
    }
  } finally {
    loading.kill();
    rmSync(folder, { recursive: true, force: true });
    process.off('exit', restore);
    restore();
  }
}

async function measureCounting(
  host: BenchHost,
  kubeproxy: readonly string[],
  pid: number,
): Promise<TrafficFigures> {
  const share = async (until: () => Promise<unknown>): Promise<number> => {
    const [time, used] = [performance.now(), processorTime(pid)];
    await until();
    return (processorTime(pid) - used) / (performance.now() - time);
  };
  const idle = await share(() => sleep(SETTLE_MS));
  const memory = new MemoryWatch(pid);
  const top = host.start(...kubeproxy, 'top', '-o', 'json');
  const output = collect(top.stdout);
  const last = (): TrafficReport | undefined => {
    const line = output().split('\n').at(-2);
    return line === undefined ? undefined : (JSON.parse(line) as TrafficReport);
  };
  const begun = performance.now();
  const first = await share(async () => {
    while (last()?.complete !== true) await sleep(500);
  });
  const complete = (performance.now() - begun) / 1_000;
  const later = await share(() => sleep(LATER_MS));
  const report = last()!;
  top.kill('SIGINT');
  await once(top, 'exit');
  return { idle, first, later, complete, peakBytes: memory.end(), last: report };
}

/** As a table in Markdown. */
export function trafficTable({ idle, first, later, complete, peakBytes, last }: TrafficFigures): string {
  const sum = (of: 'open' | 'new'): number => last.services.reduce((total, port) => total + port[of], 0);
  const percent = (part: number): string => `${(100 * part).toFixed(1)}%`;
  const rows = [
    ['tracked connections, as the kernel counts them', last.tracked.toLocaleString('en')],
    [
      'open and new a second, as `top` counts them',
      `${sum('open').toLocaleString('en')}, ${sum('new').toLocaleString('en')}`,
    ],
    ['counted', `one in ${last.sampledOneIn}; events lost ${last.timesLost} times`],
    ['of a core while nobody watches', percent(idle)],
    [`until all have been read, which took ${complete.toFixed(0)} s`, percent(first)],
    ['afterwards', percent(later)],
    ['peak memory of the proxy', `${Math.round(peakBytes / 2 ** 20)} MB`],
  ];
  return ['| | |', '|---|--:|', ...rows.map((cells) => `| ${cells.join(' | ')} |`)].join('\n');
}
