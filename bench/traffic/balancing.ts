import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { prepare, proxyMode, type BenchMode } from '../bench-mode.js';
import { clusterIPOf, endpointSlice, node, podAddress, service, serviceCidr } from '../cluster.js';
import type { BenchHost } from '../host.js';
import { coreShare, percent, withProxy } from './under-load.js';

const ENDPOINTS = 10;
const SECONDS = 60;
const PER_SECOND = 500;
const SETTLE_MS = 8_000;
const program = fileURLToPath(new URL('traffic/slow-endpoints.js', import.meta.url));

interface Result {
  /** Of each endpoint, the two slow ones first. */
  readonly open: readonly number[];
  readonly made: number;
  readonly failed: number;
}

/** The open connections of ten endpoints, two of which are slow, by each method: rows of a table in Markdown. */
export async function balancingTable(
  host: BenchHost,
  kubeproxy: readonly string[],
  mode: BenchMode,
): Promise<string> {
  const methods =
    mode === 'ipvs' ? ['round-robin', 'least-connections'] : ['random', 'round-robin', 'least-connections'];
  const rows: string[] = [];
  for (const method of methods) {
    const { result, share } = await measure(host, kubeproxy, mode, method);
    const slow = mean(result.open.slice(0, 2));
    const fast = mean(result.open.slice(2));
    const numbers = [slow, fast, slow / fast, Math.max(...result.open)].map((number) => number.toFixed(1));
    if (result.failed > 0) throw new Error(`${result.failed} of ${result.made} connections failed`);
    rows.push(`| ${mode} | ${method} | ${numbers.join(' | ')} | ${percent(share)} |`);
  }
  return [
    '| mode | method | open, a slow endpoint | open, another | ratio | the most | processor |',
    '|---|---|--:|--:|--:|--:|--:|',
    ...rows,
  ].join('\n');
}

async function measure(host: BenchHost, kubeproxy: readonly string[], mode: BenchMode, method: string) {
  const folder = await mkdtemp(join(tmpdir(), 'kubeproxy-balancing-'));
  await prepare(host, mode);
  const addresses = Array.from({ length: ENDPOINTS }, (_, index) => podAddress(0, ENDPOINTS, index));
  try {
    // A client's packets need a route before they are translated.
    await host.run('ip', 'route', 'add', 'default', 'dev', 'node0');
    for (const address of addresses) await host.run('ip', 'address', 'add', `${address}/32`, 'dev', 'lo');
    const balanced = service(0, { 'kube-proxy-ts/load-balancing': method });
    const items = [node(), serviceCidr(), balanced, endpointSlice(0, ENDPOINTS)];
    await writeFile(join(folder, 'cluster.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    const settings = ['--proxy-mode', proxyMode(mode), '--manifests', folder];
    return await withProxy(host, [...kubeproxy, ...settings], async (pid) => {
      await sleep(SETTLE_MS);
      const words = [clusterIPOf(0), addresses.join(','), '8080', String(PER_SECOND), String(SECONDS)];
      let output = '';
      const share = await coreShare(pid, async () => {
        ({ output } = await host.run(process.execPath, program, ...words));
      });
      return { result: JSON.parse(output) as Result, share };
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
