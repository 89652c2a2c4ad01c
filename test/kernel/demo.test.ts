import { execa } from 'execa';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeRelease } from '../support/node-releases.js';
import { InVain, until } from '../support/until.js';

const prefix = `t${process.pid}-demo`;

/** What `npm start` runs. */
const START = ['scripts/start.mjs'];
/** What that runs once everything is installed and built. */
const BUILT = [
  ...['--input-type=module', '--eval'],
  "const { main } = await import('./scripts/demo/main.mjs'); process.exitCode = await main(process.argv.slice(1));",
  '--',
];

/** A running demo and what it has printed so far. */
class RunningDemo {
  output = '';
  readonly #process: ChildProcess;
  readonly #exit: Promise<unknown[]>;

  constructor(program: readonly string[], ...args: string[]) {
    // `npm start` runs on the Node of the machine: here on the oldest that it allows.
    this.#process = spawn(nodeRelease(20), [...program, '--prefix', prefix, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#exit = once(this.#process, 'close');
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    }
  }

  /** Resolves to what is printed from `since` on, once it matches. */
  async until(pattern: RegExp, since = 0): Promise<string> {
    await this.#holds(`${pattern} is printed`, () => pattern.test(this.output.slice(since)));
    return this.output.slice(since);
  }

  /** Resolves once what is told last of an address, from `since` on, is this: a busy machine may let a client wait in vain first. */
  async answers(address: string, expected: readonly string[], since = 0): Promise<void> {
    const told = (): string => answersOf(address, this.output.slice(since)).join();
    await this.#holds(`${expected.join()} answer at ${address}`, () => told() === expected.join());
  }

  async #holds(what: string, condition: () => boolean): Promise<void> {
    await until(what, () => {
      if (condition()) return true;
      if (this.#process.exitCode !== null)
        throw new InVain(`until ${what}: it has ended, and printed:\n${this.output}`);
      throw new Error(this.output);
    });
  }

  async end(signal?: NodeJS.Signals): Promise<number | null> {
    if (signal) this.#process.kill(signal);
    await this.#exit;
    return this.#process.exitCode;
  }
}

describe('npm start', () => {
  let examples: string;
  let demo: RunningDemo | undefined;

  beforeEach(async () => {
    examples = await mkdtemp(join(tmpdir(), `${prefix}-`));
    await cp('deploy/examples', examples, { recursive: true });
  });

  afterEach(async () => {
    await demo?.end('SIGTERM');
    await rm(examples, { recursive: true });
  });

  it('reaches every backend through both addresses, follows an edit, and ends by itself without a trace', async () => {
    demo = new RunningDemo(START, '--for', '12', '--examples', examples);
    const first = await demo.until(/Try it/);
    const [, page = ''] = /^Its page, while the demo runs: (http:\S+)$/m.exec(demo.output) ?? [];
    expect(await (await fetch(page)).text()).toContain('<title>');
    const status = (await (await fetch(`${page}debug/status`)).json()) as { readonly mode: string };
    expect(status.mode).toBe('nftables');
    for (const address of ['10.96.0.80:80', '192.0.2.10:30080']) {
      await demo.answers(address, ['backend-1', 'backend-2', 'backend-3']);
    }
    expect(answersOf('10.96.0.81:80', first)).toHaveLength(1); // session affinity
    await demo.answers('10.96.0.82:80', ['refused']); // no endpoints

    const before = demo.output.length;
    await removeEndpoint('10.244.1.12', join(examples, 'web.yaml'));
    for (const address of ['10.96.0.80:80', '192.0.2.10:30080']) {
      await demo.answers(address, ['backend-1', 'backend-3'], before);
    }

    expect(await demo.end()).toBe(0);
    expect(demo.output).toContain('Everything has been removed.');
    expect(await namespaces()).toEqual([]);
  });

  it('shows three broken Services, of which the proxy says why, and that one is mended; the last valid version when an edit is not', async () => {
    demo = new RunningDemo(BUILT, '--examples', examples);
    await brokenOnesAreShown(demo);
    const file = join(examples, 'web.yaml');
    const valid = await readFile(file, 'utf8');
    const served = /web cluster IP: (#\d \d+% ?){3}\| web node port: (#\d \d+% ?){3}\|/;

    let before = demo.output.length;
    await writeFile(file, valid.replace('port: 80,', 'port: 99999,'));
    await demo.until(/ignored, the last valid version stays: .*web\.yaml:15: .*99999 is not/, before);
    await demo.until(served, before);

    before = demo.output.length;
    await writeFile(file, valid.replace('ports:', 'ports: ]'));
    await demo.until(/ignored, the last valid version stays: .*web\.yaml:\d+:\d+: /, before);
    await demo.until(served, before);

    before = demo.output.length;
    await writeFile(file, valid.replace('port: 80,', 'port: 81,'));
    await demo.until(/everything is valid again/, before);
    const then = await demo.until(/ 10\.96\.0\.80:81 .*\n/, before);
    expect(then).toContain('no longer served: 10.96.0.80:80');
    await demo.answers('10.96.0.80:81', ['backend-1', 'backend-2', 'backend-3'], before);

    expect(await demo.end('SIGINT')).toBe(0);
    expect(await namespaces()).toEqual([]);
  });

  async function brokenOnesAreShown(demo: RunningDemo): Promise<void> {
    const shown = await demo.until(/solutions\.txt has the solutions/);
    const [, page = ''] = /^Its page, while the demo runs: (http:\S+)$/m.exec(shown) ?? [];
    await demo.answers('10.96.0.91:80', ['backend-1', 'backend-2', 'no answer']);
    await demo.answers('192.0.2.10:30092', ['no answer']);
    await demo.answers('10.96.0.92:80', ['backend-3']);
    await demo.answers('10.96.0.93:80', ['refused']);

    const explained = async (name: string): Promise<string> =>
      (await fetch(`${page}debug/explain?subject=broken/${name}`)).text();
    expect(await explained('login')).toContain(
      'externalTrafficPolicy is Local and no endpoint on the node is ready',
    );
    expect(await explained('search')).toContain('no EndpointSlice has a port named http (they have: web)');
    const explain = /ip netns exec (\S+) bin\/kubeproxy explain login/.exec(shown);
    const run = (...command: readonly string[]) =>
      execa('ip', ['netns', 'exec', explain![1]!, 'bin/kubeproxy', ...command], { reject: false });
    const unresponsive =
      /1 of 3 ready endpoints does not answer: pod cart-3 \(10\.244\.1\.19:8080\), \d+ connections/;
    const { stdout: services, exitCode } = await run('services', '-n', 'broken');
    expect(services).toMatch(new RegExp(`^broken +cart .* warning .*${unresponsive.source}`, 'm'));
    expect(exitCode).toBe(1);
    const told = await run('explain', 'cart', '--probe');
    expect(told.stdout).toMatch(unresponsive);
    expect(told.exitCode).toBe(1);
    expect(told.stdout).toMatch(/10\.244\.1\.19:8080\/TCP: no answer/);
    const before = demo.output.length;
    await removeEndpoint('10.244.1.19', join(examples, 'broken', 'cart.yaml'));
    await demo.until(/changed:\n.*cart .*\n/, before);
    await demo.answers('10.96.0.91:80', ['backend-1', 'backend-2'], before);
  }

  it('cleans up after a demo that was killed, refuses to disturb one that is running, and ends on Ctrl-C', async () => {
    const killed = new RunningDemo(BUILT, '--examples', examples);
    await killed.until(/Try it/);
    await killed.end('SIGKILL');
    expect(await namespaces()).toHaveLength(5);

    demo = new RunningDemo(START, '--examples', examples);
    await demo.until(/Removed what an earlier demo had left behind[^]*Try it/);

    const second = new RunningDemo(BUILT, '--examples', examples);
    expect(await second.end()).toBe(1);
    expect(second.output).toContain('is already running');
    expect(await namespaces()).toHaveLength(5);

    expect(await demo.end('SIGINT')).toBe(0);
    expect(await namespaces()).toEqual([]);
  });

  it('leaves nothing behind when it fails half-way', async () => {
    demo = new RunningDemo(BUILT, '--examples', join(examples, 'missing'));
    expect(await demo.end()).toBe(1);
    expect(demo.output).toMatch(/missing": it does not exist[^]*^npm start: kubeproxy exited/m);
    expect(await namespaces()).toEqual([]);
  });
});

describe('what npm start installs', () => {
  let checkout: string;
  let asked: string;

  beforeEach(async () => {
    checkout = await mkdtemp(join(tmpdir(), `${prefix}-checkout-`));
    asked = join(checkout, 'asked');
    await mkdir(join(checkout, 'scripts'));
    await mkdir(join(checkout, 'bin'));
    for (const file of ['scripts/setup.sh', 'package.json', 'package-lock.json'])
      await cp(file, join(checkout, file));
    // Stands in for npm: says what it was asked for, and leaves what npm leaves.
    await writeFile(
      join(checkout, 'bin', 'npm'),
      `#!/bin/sh\necho "$@" >>${asked}\nmkdir -p node_modules\ntouch node_modules/.package-lock.json\n`,
      { mode: 0o755 },
    );
  });
  afterEach(() => rm(checkout, { recursive: true }));

  const setUp = async (...purpose: readonly string[]): Promise<readonly string[]> => {
    await rm(asked, { force: true });
    await execa('sh', [join(checkout, 'scripts/setup.sh'), ...purpose], {
      env: { PATH: `${join(checkout, 'bin')}:${process.env.PATH}` },
    });
    return (await readFile(asked, 'utf8').catch(() => '')).split('\n').filter(Boolean);
  };

  it('is what the program runs with and what builds it, once; all else comes when something else wants it', async () => {
    const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8')) as {
      packages: Record<string, { version: string }>;
    };
    const [command, ...more] = await setUp('demo');
    expect(more).toEqual([]);
    expect(command).toMatch(/^install --no-save .*--omit=dev /);
    expect(command!.split(' ').filter((word) => word.includes('@'))).toEqual(
      ['esbuild', 'preact'].map((name) => `${name}@${packages[`node_modules/${name}`]!.version}`),
    );
    expect(await setUp('demo')).toEqual([]);
    expect(await setUp()).toEqual([expect.stringMatching(/^ci --include=dev/)]);
    expect(await setUp()).toEqual([]);
    expect(await setUp('demo')).toEqual([]);
  });

  it('is everything anew, where all was installed and the lock file has changed', async () => {
    await setUp();
    const later = new Date(Date.now() + 60_000);
    await utimes(join(checkout, 'package-lock.json'), later, later);
    expect(await setUp('demo')).toEqual([expect.stringMatching(/^ci --include=dev/)]);
  });
});

/** Who answered at an address, from the last line of tallies that tells. */
function answersOf(address: string, output: string): string[] {
  const line = output.split('\n').findLast((each) => each.includes(`${address} `));
  return [...(line ?? '').matchAll(/(backend-\d|refused|unreachable|no answer) ■/g)].map(
    (match) => match[1]!,
  );
}

async function removeEndpoint(address: string, file: string): Promise<void> {
  const lines = (await readFile(file, 'utf8')).split('\n');
  await writeFile(file, lines.filter((line) => !line.includes(`[${address}]`)).join('\n'));
}

async function namespaces(): Promise<string[]> {
  return (await readdir('/run/netns')).filter((name) => name.startsWith(`${prefix}-`));
}
