import { readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compare, ProgramError } from './against/measure.js';
import { type Comparison, comparisonTable } from './against/report.js';
import { type BenchMode, defaultSizes, modesOf, prepare, proxyMode } from './bench-mode.js';
import { CLUSTER_CIDR, MOST_PODS, MOST_SERVICES, NODE_NAME } from './cluster.js';
import { decodingTable } from './decoding.js';
import { fleetReport } from './fleet/fleet-report.js';
import { BenchHost, type Run } from './host.js';
import { runInGuest } from './in-guest.js';
import { writeManifests } from './manifests.js';
import { type InProcessResult, type Measurement, table, type ToolTimes } from './report.js';
import { RestoreRecorder } from './restore-recorder.js';
import { informerTable } from './server/informers.js';
import { measureServed } from './server/measure.js';
import { servedTable } from './server/report.js';
import { leastOfEach } from './statistics.js';
import { circumstances, type Stored, storeResults } from './stored-results.js';
import { tenantsTable } from './tenants/report.js';
import { balancingTable } from './traffic/balancing.js';
import { ejectionTable } from './traffic/ejection.js';
import { measureTraffic, trafficTable } from './traffic/measure.js';
import { countWrites } from './writes.js';

const kubeproxy = fileURLToPath(new URL('../../bin/kubeproxy', import.meta.url));
/** Node with the options of `bin/kubeproxy`. */
const node = [process.execPath, ...optionsOf(kubeproxy)];
const makeCounters = fileURLToPath(new URL('make-counters.js', import.meta.url));
const inProcess = fileURLToPath(new URL('in-process.js', import.meta.url));
const fleetServer = fileURLToPath(new URL('fleet-server.js', import.meta.url));
const replayer = fileURLToPath(new URL('replay.js', import.meta.url));

/** A mode on a host, and the size of the cluster. */
interface Task {
  readonly mode: BenchMode;
  readonly host: BenchHost;
  readonly services: number;
  readonly endpoints: number;
  /** Folder for temporary files. */
  readonly folder: string;
}

type Figures = Omit<Measurement, 'services' | 'endpoints'>;

/** Measures one size as often as requested, each time on a fresh host, and takes the smallest of each figure. */
async function measure(
  mode: BenchMode,
  services: number,
  endpoints: number,
  runs: number,
): Promise<Measurement> {
  const folder = await mkdtemp(join(tmpdir(), 'kubeproxy-bench-'));
  const host = new BenchHost();
  const tidy = () => {
    host.remove();
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', tidy);
  // Other programs of this machine have another network and are not affected.
  process.env.XTABLES_LOCKFILE = join(folder, 'xtables.lock');
  try {
    const task: Task = { mode, host, services, endpoints, folder };
    await writeManifests(join(folder, 'manifests'), services, endpoints);
    const inputs = proxyMode(mode) === 'iptables' ? await recordInputs(task) : undefined;
    const rounds: Figures[] = [];
    for (let run = 0; run < runs; run++) rounds.push(await measureOnce(task, inputs));
    return { services, endpoints, ...leastOf(rounds) };
  } finally {
    tidy();
    process.off('exit', tidy);
  }
}

async function measureOnce(task: Task, inputs: RestoreRecorder | undefined): Promise<Figures> {
  const { mode, host, folder } = task;
  await prepare(host, mode);
  const changes = await host.run(...inProcessCommand(task));
  const tool = inputs && (await replay(task, inputs));
  // The process that fills the kernel from manifests starts with an empty one.
  await prepare(host, mode);
  const command = [...node, kubeproxy, ...arguments_(join(folder, 'manifests'), mode)];
  const start = await host.runUntilProgrammed(...command);
  const { result: restart, writes } = await restartCounted(task, command);
  return {
    inProcess: JSON.parse(changes.output) as InProcessResult,
    ...(tool && { tool }),
    start: start.milliseconds,
    restart: restart.milliseconds,
    restartWrites: writes,
    peak: { start: start.peakBytes, changes: changes.peakBytes, restart: restart.peakBytes },
  };
}

function leastOf(rounds: readonly Figures[]): Figures {
  const tools = rounds.flatMap(({ tool }) => tool ?? []);
  return {
    inProcess: leastOfEach(rounds.map(({ inProcess }) => inProcess)),
    ...(tools.length > 0 && { tool: leastOfEach(tools) }),
    start: Math.min(...rounds.map(({ start }) => start)),
    restart: Math.min(...rounds.map(({ restart }) => restart)),
    restartWrites: Math.max(...rounds.map(({ restartWrites }) => restartWrites)),
    peak: leastOfEach(rounds.map(({ peak }) => peak)),
  };
}

function inProcessCommand({ mode, services, endpoints }: Task): string[] {
  return [...node, inProcess, String(services), String(endpoints), proxyMode(mode)];
}

/** Records what the proxy passes to the tools in each phase. That run is not measured, since recording takes time. */
async function recordInputs(task: Task): Promise<RestoreRecorder> {
  const recorder = new RestoreRecorder(join(task.folder, 'recorded'));
  await recorder.install();
  await prepare(task.host, task.mode);
  await task.host.run(...recorder.recorded(...inProcessCommand(task), recorder.phaseFile));
  return recorder;
}

async function replay({ mode, host }: Task, inputs: RestoreRecorder): Promise<ToolTimes> {
  await prepare(host, mode);
  const counters = await inputs.counters();
  if (counters.length > 0) await host.run(process.execPath, makeCounters, ...counters);
  return JSON.parse((await host.run(process.execPath, replayer, inputs.folder)).output) as ToolTimes;
}

async function restartCounted(
  { mode, host, folder }: Task,
  command: readonly string[],
): Promise<{ readonly result: Run; readonly writes: number }> {
  if (mode === 'nftables') return countWrites(host, () => host.runUntilProgrammed(...command));
  if (mode === 'ipvs') {
    // The kernel does not report changes of virtual servers, so the proxy's own count of writes is used.
    const result = await host.runUntilProgrammed(...command);
    const written = [...result.output.matchAll(/"written":(\d+)/g)].map(([, steps]) => Number(steps));
    return { result, writes: written.reduce((sum, steps) => sum + steps, 0) };
  }
  const recorder = new RestoreRecorder(await mkdtemp(join(folder, 'restart-')));
  await recorder.install();
  const result = await host.runUntilProgrammed(...recorder.recorded(...command));
  return { result, writes: (await recorder.recordings()).length };
}

function arguments_(manifests: string, mode: BenchMode): string[] {
  const options = ['--proxy-mode', proxyMode(mode), '--manifests', manifests];
  if (mode === 'ipvs') options.push('--logging-format', 'json');
  return [...options, '--hostname-override', NODE_NAME, '--cluster-cidr', CLUSTER_CIDR];
}

/** The options for Node in the first line of a program. */
function optionsOf(program: string): readonly string[] {
  const [firstLine = ''] = readFileSync(program, 'utf8').split('\n', 1);
  return firstLine.split(' ').filter((word) => word.startsWith('--'));
}

function natural(option: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new Error(`--${option} takes a positive number, not "${text}"`);
  return number;
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    services: { type: 'string' },
    endpoints: { type: 'string', default: '5' },
    mode: { type: 'string', default: 'nftables' },
    /** The number of runs; the smallest figures count. */
    runs: { type: 'string', default: '1' },
    /** Measure what lists from an API server cost, instead of a mode. */
    decoding: { type: 'boolean', default: false },
    /** Measure the program at an API server, instead of a mode. */
    server: { type: 'boolean', default: false },
    /** Measure following Services as the proxy does and with client-node, instead of a mode. */
    informers: { type: 'boolean', default: false },
    /** Measure another service proxy and this one in turn, instead of a mode: a name and the path of its program. */
    against: { type: 'string' },
    /** Measure what counting a million connections costs, instead of a mode. */
    traffic: { type: 'boolean', default: false },
    /** Measure what looking for silent endpoints costs, instead of a mode. */
    ejection: { type: 'boolean', default: false },
    /** Measure how evenly each method spreads open connections, instead of a mode. */
    balancing: { type: 'boolean', default: false },
    /** Measure what so many nodes cost an API server, instead of a mode. */
    fleet: { type: 'string' },
    /** For how long each attack of `tenants` lasts (20); for how long a program of `against` may take (120). */
    seconds: { type: 'string' },
    /** Store the results of a mode, which documents show, in bench/results. */
    store: { type: 'boolean', default: false },
    /** Measure mode ipvs on the kernel of this machine, not on a separate one. */
    here: { type: 'boolean', default: false },
  },
});
const [subject, ...names] = positionals;
if (subject !== undefined && subject !== 'tenants')
  throw new Error(`nothing to measure is called ${subject}`);
const endpoints = natural('endpoints', values.endpoints);
const runs = natural('runs', values.runs);
const asked = values.services === undefined ? undefined : natural('services', values.services);
const plan = modesOf(values.mode).map((mode) => ({ mode, sizes: asked ? [asked] : defaultSizes(mode) }));
const largest = Math.max(...plan.flatMap(({ sizes }) => sizes));
if (largest > MOST_SERVICES || largest * endpoints > MOST_PODS) {
  throw new Error(`at most ${MOST_SERVICES} services and ${MOST_PODS} endpoints in all`);
}

if (values.decoding) console.log(decodingTable(asked ?? 10_000, endpoints));
if (values.fleet !== undefined) {
  const size = { nodes: natural('fleet', values.fleet), services: asked ?? 1_000, endpoints };
  console.log(await fleetReport(fleetServer, size));
}
console.error(`Linux ${release()}, ${cpus().length} × ${cpus()[0]?.model ?? 'CPU'}, Node ${process.version}`);
if (values.server) {
  const host = new BenchHost();
  process.once('exit', () => host.remove());
  const size = asked ?? 10_000;
  console.error(`measuring at an API server: ${size} services of ${endpoints} endpoints …`);
  console.log(servedTable(size, endpoints, await measureServed(host, [...node, kubeproxy], size, endpoints)));
}
if (values.against !== undefined) await measureAgainst(values.against);
if (values.informers) {
  const host = new BenchHost();
  process.once('exit', () => host.remove());
  console.log(await informerTable(host, node, asked ?? 10_000, endpoints, runs));
}
if (values.traffic) {
  const host = new BenchHost();
  process.once('exit', () => host.remove());
  console.error('measuring kubeproxy top with a million connections and 10,000 new ones a second …');
  console.log(trafficTable(await measureTraffic(host, [...node, kubeproxy])));
}
if (values.ejection) {
  const host = new BenchHost();
  process.once('exit', () => host.remove());
  console.error('measuring --eject-unresponsive-endpoints with 1,000 and 10,000 new connections a second …');
  console.log(await ejectionTable(host, [...node, kubeproxy]));
}
if (values.balancing)
  for (const { mode } of plan) {
    if (mode === 'ipvs' && !values.here) {
      console.log(
        await runInGuest(fileURLToPath(import.meta.url), ['--balancing', '--mode', mode, '--here']),
      );
      continue;
    }
    const host = new BenchHost();
    process.once('exit', () => host.remove());
    console.log(await balancingTable(host, [...node, kubeproxy], mode));
  }
if (subject === 'tenants') {
  const host = new BenchHost();
  process.once('exit', () => host.remove());
  for await (const line of tenantsTable(host, node, names, natural('seconds', values.seconds ?? '20')))
    console.log(line);
}
const instead =
  subject !== undefined ||
  values.decoding ||
  values.traffic ||
  values.ejection ||
  values.balancing ||
  values.server ||
  values.informers ||
  values.against !== undefined ||
  values.fleet !== undefined;
for (const { mode, sizes } of instead ? [] : plan) {
  if (mode === 'ipvs' && !values.here) {
    console.error(
      `measuring ${mode} on user-mode Linux: ${sizes.join(' and ')} services of ${endpoints} endpoints …`,
    );
    const same = ['--mode', mode, '--here', '--endpoints', String(endpoints), '--runs', String(runs)];
    if (asked) same.push('--services', String(asked));
    const printed = (await runInGuest(fileURLToPath(import.meta.url), same)).trim();
    console.log(plan.length > 1 ? `\n${mode}\n\n${printed}` : printed);
    continue;
  }
  const rows: Measurement[] = [];
  for (const services of sizes) {
    console.error(`measuring ${mode}: ${services} services of ${endpoints} endpoints …`);
    rows.push(await measure(mode, services, endpoints, runs));
  }
  if (values.store)
    storeResults(
      mode,
      rows.map((row) => ({ ...row, measured: circumstances(runs) })),
    );
  console.log(plan.length > 1 ? `\n${mode}\n\n${table(rows)}` : table(rows));
}

/** @param text `NAME=PATH` */
async function measureAgainst(text: string): Promise<void> {
  const [, name, path] = /^([\w.-]+)=(.+)$/.exec(text) ?? [];
  if (!name || !path) throw new Error(`--against takes NAME=PATH, not "${text}"`);
  const modes = plan.map(({ mode }) => mode).filter((mode) => mode !== 'ipvs');
  if (modes.length === 0) throw new Error('--against cannot measure mode ipvs');
  const host = new BenchHost();
  const folder = await mkdtemp(join(tmpdir(), 'kubeproxy-bench-'));
  process.once('exit', () => {
    host.remove();
    rmSync(folder, { recursive: true, force: true });
  });
  process.env.TMPDIR = folder;
  process.env.XTABLES_LOCKFILE = join(folder, 'xtables.lock');
  const programs = [
    { name: 'kube-proxy-ts', command: [...node, kubeproxy] },
    { name, command: [path] },
  ];
  const limitSeconds = natural('seconds', values.seconds ?? '120');
  const size = { services: asked ?? 10_000, endpoints, runs, limitSeconds };
  for (const mode of modes)
    try {
      const comparison = await compare(host, { programs, mode, folder, ...size });
      const stored: Stored<Comparison> = { ...comparison, measured: circumstances(runs) };
      if (values.store) storeResults(`against-${name}-${mode}`, [stored]);
      console.log(comparisonTable(stored));
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error;
      console.error(`error: ${error.message}`);
      process.exit(1);
    }
}
