import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type BenchMode, defaultSizes, modesOf, prepare, proxyMode } from './bench-mode.js';
import { CLUSTER_CIDR, MOST_PODS, MOST_SERVICES, NODE_NAME } from './cluster.js';
import { BenchHost, type Run } from './host.js';
import { runInGuest } from './in-guest.js';
import { writeManifests } from './manifests.js';
import { type InProcessResult, type Measurement, table } from './report.js';
import { RestoreRecorder } from './restore-recorder.js';
import { countWrites } from './writes.js';

const kubeproxy = fileURLToPath(new URL('../kubeproxy.js', import.meta.url));
const makeCounters = fileURLToPath(new URL('make-counters.js', import.meta.url));
const inProcess = fileURLToPath(new URL('in-process.js', import.meta.url));

type Starts = Pick<Measurement, 'restartWrites' | 'toolAlone'> & {
  readonly start: Run;
  readonly restart: Run;
};

/** Measures one size on a fresh host. */
async function measure(mode: BenchMode, services: number, endpoints: number): Promise<Measurement> {
  const folder = await mkdtemp(join(tmpdir(), 'kubeproxy-bench-'));
  const host = new BenchHost();
  const tidy = () => {
    host.remove();
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', tidy);
  // Other programs of this machine have a network of their own and are not waited for.
  process.env.XTABLES_LOCKFILE = join(folder, 'xtables.lock');
  try {
    await prepare(host, mode);
    const size = [String(services), String(endpoints)];
    const { output } = await host.run(process.execPath, inProcess, ...size, proxyMode(mode));
    // The process that fills the kernel from manifests starts from an empty one.
    await prepare(host, mode);
    const manifests = join(folder, 'manifests');
    await writeManifests(manifests, services, endpoints);
    const command = [process.execPath, kubeproxy, ...arguments_(manifests, mode)];
    const { start, restart, ...counted } = await startTwice(host, mode, command, join(folder, 'restores'));
    return {
      services,
      endpoints,
      inProcess: JSON.parse(output) as InProcessResult,
      start: start.milliseconds,
      restart: restart.milliseconds,
      peakBytes: Math.max(start.peakBytes, restart.peakBytes),
      ...counted,
    };
  } finally {
    tidy();
    process.off('exit', tidy);
  }
}

function startTwice(
  host: BenchHost,
  mode: BenchMode,
  command: readonly string[],
  folder: string,
): Promise<Starts> {
  if (mode === 'nftables') return startNftables(host, command);
  return mode === 'ipvs' ? startIpvs(host, command) : startIptables(host, mode, command, folder);
}

async function startNftables(host: BenchHost, command: readonly string[]): Promise<Starts> {
  const start = await host.run(...command);
  const { result: restart, writes } = await countWrites(host, () => host.run(...command));
  return { start, restart, restartWrites: writes };
}

/** Nobody tells of changes to virtual servers: what was written is what the proxy says. */
async function startIpvs(host: BenchHost, command: readonly string[]): Promise<Starts> {
  const start = await host.run(...command);
  const restart = await host.run(...command);
  const written = [...restart.output.matchAll(/"written":(\d+)/g)].map(([, steps]) => Number(steps));
  return { start, restart, restartWrites: written.reduce((sum, steps) => sum + steps, 0) };
}

async function startIptables(
  host: BenchHost,
  mode: BenchMode,
  command: readonly string[],
  folder: string,
): Promise<Starts> {
  const first = new RestoreRecorder(join(folder, 'first'));
  const second = new RestoreRecorder(join(folder, 'second'));
  await Promise.all([first.install(), second.install()]);
  const start = await host.run(...first.recorded(...command));
  const restart = await host.run(...second.recorded(...command));
  await prepare(host, mode);
  const counters = await first.counters();
  if (counters.length > 0) await host.run(process.execPath, makeCounters, ...counters);
  return { start, restart, restartWrites: await second.count(), toolAlone: await first.replay(host) };
}

function arguments_(manifests: string, mode: BenchMode): string[] {
  const options = ['--once', '--proxy-mode', proxyMode(mode), '--manifests', manifests];
  if (mode === 'ipvs') options.push('--logging-format', 'json');
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
  options: {
    services: { type: 'string' },
    endpoints: { type: 'string', default: '5' },
    mode: { type: 'string', default: 'nftables' },
    /** Measure mode ipvs on the kernel of this machine, not on one of its own. */
    here: { type: 'boolean', default: false },
  },
});
const endpoints = natural('endpoints', values.endpoints);
const asked = values.services === undefined ? undefined : natural('services', values.services);
const plan = modesOf(values.mode).map((mode) => ({ mode, sizes: asked ? [asked] : defaultSizes(mode) }));
const largest = Math.max(...plan.flatMap(({ sizes }) => sizes));
if (largest > MOST_SERVICES || largest * endpoints > MOST_PODS) {
  throw new Error(`at most ${MOST_SERVICES} services and ${MOST_PODS} endpoints in all`);
}

console.error(`Linux ${release()}, ${cpus().length} × ${cpus()[0]?.model ?? 'CPU'}, Node ${process.version}`);
for (const { mode, sizes } of plan) {
  if (mode === 'ipvs' && !values.here) {
    console.error(
      `measuring ${mode} on user-mode Linux: ${sizes.join(' and ')} services of ${endpoints} endpoints …`,
    );
    const same = ['--mode', mode, '--here', '--endpoints', String(endpoints)];
    if (asked) same.push('--services', String(asked));
    const printed = (await runInGuest(fileURLToPath(import.meta.url), same)).trim();
    console.log(plan.length > 1 ? `\n${mode}\n\n${printed}` : printed);
    continue;
  }
  const rows: Measurement[] = [];
  for (const services of sizes) {
    console.error(`measuring ${mode}: ${services} services of ${endpoints} endpoints …`);
    rows.push(await measure(mode, services, endpoints));
  }
  console.log(plan.length > 1 ? `\n${mode}\n\n${table(rows)}` : table(rows));
}
