/** `npm run test:kernels`: tests the program on Debian kernels in qemu, and stores the results in docs/evidence. */

import { execa } from 'execa';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { resultsOf } from '../kernel/uml/guest-tests.js';
import { builtProxy } from '../support/program/built-proxy.js';
import { bundle } from '../support/program/bundle.js';
import { bundleStandIn } from '../support/program/served-node.js';
import {
  ARM64,
  CHECKS,
  checksOf,
  FUZZ_MINUTES,
  HERE,
  MODES,
  SCENARIOS,
  type Check,
  type CheckName,
} from './checks.js';
import { checkResult, storeResults, today, type CheckResult } from '../evidence/results.js';

const HELP = `Tests the program on Debian kernels in qemu, and stores the results in docs/evidence.

  npm run test:kernels [-- SERIES…] [--mode MODE]… [--check CHECK]…

Series: 5.10, 6.1, 6.12, 6.18, 7.3, 6.12-arm64, or another one that Debian has; \`here\` is the kernel of this machine.
Modes: ${Object.keys(MODES).join(', ')}.
Checks: ${Object.keys(CHECKS).join(', ')}.
`;
const ALL_SERIES = ['5.10', '6.1', '6.12', '6.18', '7.3', `6.12${ARM64}`];
const root = fileURLToPath(new URL('../../', import.meta.url));
const reporter = fileURLToPath(new URL('../kernel/uml/reporter.mjs', import.meta.url));

/** The seed of every fuzz of this run. */
const SEED = Math.floor(Date.now() / 1000);

/** Makes what a guest runs for a check. Returns the words of the command. */
async function prepare(check: Check, folder: string, node: string): Promise<readonly string[]> {
  const program = join(folder, 'program.mjs');
  const start = [node, '--v8-pool-size=0'];
  if (check.kind === 'fuzz') {
    await bundle(pathToFileURL(`${root}test/fuzz/main.ts`), program);
    const options = ['--mode', check.mode, '--minutes', FUZZ_MINUTES, '--seed', SEED, '--unshrunk'];
    return [...start, program, ...options.map(String)];
  }
  let source = `${root}${check.file}`;
  if (check.kind === 'test file') {
    const globals = JSON.stringify(`${root}test/kernels/jest-globals.ts`);
    const text = `import { runTests } from ${globals}; import '${source}'; runTests(${JSON.stringify(check.names)});`;
    source = join(folder, 'entry.ts');
    await writeFile(source, text);
  }
  await bundle(pathToFileURL(source), program);
  const results = join(folder, 'results');
  const { parameters, names } = check.kind === 'program' ? check : { parameters: [], names: '.' };
  const options = ['--test-reporter', reporter, '--test-reporter-destination', results];
  return [...start, ...options, `--test-name-pattern=${names}`, program, ...parameters];
}

/** The built program, in a folder of its own: the checkout may change while a guest runs. */
async function copyProxy(exchange: string): Promise<string> {
  const built = await builtProxy();
  const folder = join(exchange, 'program');
  await cp(dirname(built), join(folder, 'dist'), { recursive: true });
  await cp(`${root}package.json`, join(folder, 'package.json'));
  await symlink(`${root}node_modules`, join(folder, 'node_modules'));
  return join(folder, 'dist', basename(built));
}

/** Undefined if the check was cut off, which is no result. */
async function resultOf(check: Check, folder: string): Promise<CheckResult | undefined> {
  const read = (file: string) => readFile(join(folder, file), 'utf8').catch(() => '');
  const [status, output, results] = await Promise.all([read('status'), read('output'), read('results')]);
  if (status === '') return undefined;
  if (check.kind === 'fuzz') {
    const isPassed = status === '0\n';
    if (!isPassed) process.stdout.write(output);
    const [passed, failed] = isPassed ? [1, 0] : [0, 1];
    return { date: today(), passed, failed, seed: SEED, minutes: FUZZ_MINUTES };
  }
  const tests = resultsOf(results, { exitStatus: Number(status), console: output }).map(
    ({ path, milliseconds, error }) => ({
      name: path.join(' › '),
      milliseconds: Math.round(milliseconds),
      ...(error !== undefined && { error }),
    }),
  );
  for (const { name, error } of tests) if (error !== undefined) process.stdout.write(`${name}: ${error}\n`);
  return checkResult(tests.length > 0 ? tests : [{ name: 'all', error: 'no test has such a name' }]);
}

/** Seconds, for all checks of a mode. Only ends a guest that hangs. */
const GUEST_TIMEOUT = 4 * 3600;

/** Runs the checks of a mode, one after the other, in one guest or on this machine. */
async function testOn(series: string, mode: string, checks: ReadonlyMap<CheckName, Check>): Promise<boolean> {
  const isHere = series === HERE;
  const exchange = await mkdtemp(join(tmpdir(), 'kernels-'));
  const standIn = await bundleStandIn();
  try {
    const environment = {
      NIGHTLY: '1',
      KUBEPROXY: await copyProxy(exchange),
      STAND_IN: standIn.file,
      SCENARIOS: SCENARIOS.join(','),
      ...(!isHere && { IN_GUEST: '1' }),
    };
    const lines = [
      ...Object.entries(environment).map(([name, value]) => `export ${name}='${value}'`),
      `uname -rv >${exchange}/release`,
      ...(isHere ? [] : ['modprobe -a nf_conntrack_netlink nf_tables']),
    ];
    const isArm64 = series.endsWith(ARM64);
    const node = isArm64 ? '/usr/bin/node' : process.execPath;
    for (const [name, check] of checks) {
      const folder = join(exchange, name);
      await mkdir(folder);
      const command = await prepare(check, folder, node);
      lines.push(
        `${command.map((word) => `'${word}'`).join(' ')} >${folder}/output 2>&1`,
        `echo $? >${folder}/status`,
      );
    }
    await writeFile(join(exchange, 'script'), lines.join('\n'));
    const begin = Date.now();
    const script = ['sh', join(exchange, 'script')];
    const [command, ...args] = isHere
      ? script
      : [`${root}scripts/kernel.sh`, 'run', series.replace(ARM64, ''), ...script];
    const { exitCode } = await execa(command!, args, {
      cwd: root,
      env: { EXCHANGE: exchange, SECONDS_MAX: `${GUEST_TIMEOUT}`, ...(isArm64 && { ARCH: 'arm64' }) },
      stdio: 'inherit',
      reject: false,
    });
    process.stdout.write(`${series} ${mode}: ${Math.round((Date.now() - begin) / 1000)} s\n`);
    const release = await readFile(join(exchange, 'release'), 'utf8').catch(() => '');
    const version = (/Debian (\d[\d.]*)/.exec(release) ?? /^(\d[\d.]*)/m.exec(release))?.[1];
    const results: Partial<Record<CheckName, CheckResult>> = {};
    let isOk = exitCode === 0;
    for (const [name, check] of checks) {
      const result = await resultOf(check, join(exchange, name));
      if (result) results[name] = result;
      const text = result ? `${result.passed} passed, ${result.failed} failed` : 'did not end';
      process.stdout.write(`${series} ${mode} ${name}: ${text}\n`);
      isOk &&= result?.failed === 0;
    }
    if (version === undefined) return false;
    const architecture = isArm64 || (isHere && process.arch === 'arm64') ? 'arm64' : 'amd64';
    await storeResults({ kernel: version, architecture, mode }, results);
    return isOk;
  } finally {
    await standIn.remove();
    await rm(exchange, { recursive: true });
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    mode: { type: 'string', multiple: true, default: Object.keys(MODES) },
    check: { type: 'string', multiple: true, default: Object.keys(CHECKS) },
    help: { type: 'boolean', short: 'h' },
  },
});
const unknown = [
  ...values.mode.filter((mode) => !(mode in MODES)),
  ...values.check.filter((check) => !(check in CHECKS)),
];
if (values.help) process.stdout.write(HELP);
else if (unknown.length > 0) {
  process.stderr.write(`unknown: ${unknown.join(', ')}\n${HELP}`);
  process.exitCode = 2;
} else
  for (const series of positionals.length > 0 ? positionals : ALL_SERIES)
    for (const mode of values.mode) {
      const all = Object.entries(checksOf(series, mode)) as [CheckName, Check][];
      const checks = new Map(all.filter(([name]) => values.check.includes(name)));
      if (checks.size > 0 && !(await testOn(series, mode, checks))) process.exitCode = 1;
    }
