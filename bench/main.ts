import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CLUSTER_CIDR, MOST_PODS, MOST_SERVICES, NODE_NAME } from './cluster.js';
import { BenchHost } from './host.js';
import { writeManifests } from './manifests.js';
import { type InProcessResult, type Measurement, table } from './report.js';
import { countWrites } from './writes.js';

const SIZES = [1000, 10_000, 30_000, 100_000];
const kubeproxy = fileURLToPath(new URL('../kubeproxy.js', import.meta.url));
const inProcess = fileURLToPath(new URL('in-process.js', import.meta.url));

/** Measures one size on a fresh host. */
async function measure(services: number, endpoints: number): Promise<Measurement> {
  const folder = await mkdtemp(join(tmpdir(), 'kubeproxy-bench-'));
  const host = new BenchHost();
  const tidy = () => {
    host.remove();
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', tidy);
  try {
    host.create();
    const { output } = await host.run(process.execPath, inProcess, String(services), String(endpoints));
    // The process that fills the kernel from manifests starts from an empty one.
    host.create();
    await writeManifests(folder, services, endpoints);
    const once = () => host.run(process.execPath, kubeproxy, ...arguments_(folder));
    const start = await once();
    const restart = await countWrites(host, once);
    return {
      services,
      endpoints,
      inProcess: JSON.parse(output) as InProcessResult,
      start: start.milliseconds,
      restart: restart.result.milliseconds,
      restartWrites: restart.writes,
      peakBytes: Math.max(start.peakBytes, restart.result.peakBytes),
    };
  } finally {
    tidy();
    process.off('exit', tidy);
  }
}

function arguments_(folder: string): string[] {
  const options = ['--once', '--proxy-mode', 'nftables', '--manifests', folder];
  return [...options, '--hostname-override', NODE_NAME, '--cluster-cidr', CLUSTER_CIDR];
}

function natural(option: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new Error(`--${option} takes a positive number, not "${text}"`);
  return number;
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

const { values } = parseArgs({
  options: { services: { type: 'string' }, endpoints: { type: 'string', default: '5' } },
});
const endpoints = natural('endpoints', values.endpoints);
const sizes = values.services === undefined ? SIZES : [natural('services', values.services)];
if (Math.max(...sizes) > MOST_SERVICES || Math.max(...sizes) * endpoints > MOST_PODS) {
  throw new Error(`at most ${MOST_SERVICES} services and ${MOST_PODS} endpoints in all`);
}

console.error(`Linux ${release()}, ${cpus().length} × ${cpus()[0]?.model ?? 'CPU'}, Node ${process.version}`);
const rows: Measurement[] = [];
for (const services of sizes) {
  console.error(`measuring ${services} services of ${endpoints} endpoints …`);
  rows.push(await measure(services, endpoints));
}
console.log(table(rows));
