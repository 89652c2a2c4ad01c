import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TrafficReport } from '../../src/diagnostics/domain/traffic.js';
import { collect, type BenchHost } from '../host.js';
import { MemoryWatch } from '../memory.js';
import { coreShare, percent, underLoad } from './under-load.js';

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
const SETTLE_MS = 8_000;
const LATER_MS = 20_000;
const LOAD_SECONDS = 150;

/** Measures `top` of the program, given as a command. */
export function measureTraffic(host: BenchHost, kubeproxy: readonly string[]): Promise<TrafficFigures> {
  const size = { connections: CONNECTIONS, perSecond: PER_SECOND, seconds: LOAD_SECONDS };
  return underLoad(host, kubeproxy, size, (pid) => measureCounting(host, kubeproxy, pid));
}

async function measureCounting(
  host: BenchHost,
  kubeproxy: readonly string[],
  pid: number,
): Promise<TrafficFigures> {
  const share = (until: () => Promise<unknown>): Promise<number> => coreShare(pid, until);
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
  const sum = (of: 'openConnections' | 'newConnections'): number =>
    last.services.reduce((total, port) => total + port[of], 0);
  const rows = [
    ['tracked connections, as the kernel counts them', last.trackedConnections.toLocaleString('en')],
    [
      'open and new a second, as `top` counts them',
      `${sum('openConnections').toLocaleString('en')}, ${sum('newConnections').toLocaleString('en')}`,
    ],
    ['counted', `one in ${last.samplingRate}; events lost ${last.eventLosses} times`],
    ['of a core while nobody watches', percent(idle)],
    [`until all have been read, which took ${complete.toFixed(0)} s`, percent(first)],
    ['afterwards', percent(later)],
    ['peak memory of the proxy', `${Math.round(peakBytes / 2 ** 20)} MB`],
  ];
  return ['| | |', '|---|--:|', ...rows.map((cells) => `| ${cells.join(' | ')} |`)].join('\n');
}
