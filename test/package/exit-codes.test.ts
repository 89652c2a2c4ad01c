import { execa } from 'execa';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExitCode } from '../../src/adapters/cli/exit-code.js';
import { subcommands } from '../../src/diagnostics/adapters/cli/subcommands.js';
import { wholeAnswers } from '../diagnostics/adapters/cli/asking/whole-answers.js';
import {
  explanationOf,
  portOf,
  statusOf,
  trafficReport,
} from '../diagnostics/application/cluster/samples.js';
import { builtProxy } from '../support/program/built-proxy.js';
import { Served } from '../support/http/served.js';

type Name = (typeof subcommands)[number]['name'];

const SERVICE = `{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop},
  spec: {clusterIP: 10.96.0.80, clusterIPs: [10.96.0.80], ipFamilies: [IPv4], ports: [{port: 80, protocol: TCP}]}}\n`;
const EVERY_NODE = ['--cluster-cidr', '10.244.0.0/16', '--hostname-override', 'n1'];

const trace = { ...wholeAnswers.find(([name]) => name === 'trace')![3] };

/** What a proxy without a problem answers, by path. */
const GOOD: Readonly<Record<string, object>> = {
  '/debug/status': statusOf({}),
  '/debug/services': { services: [], unknownNames: [] },
  '/debug/explain': { ...explanationOf([portOf({})]), service: 'shop/cart' },
  '/debug/trace': trace,
  '/debug/diff': { mode: 'nftables', families: [{ family: 'IPv4', lines: [], omitted: 0 }] },
  '/debug/history': { changes: [], total: 0 },
  '/debug/traffic': trafficReport([]),
  '/debug/drain': { node: 'n1', endpoints: [], addresses: [] },
};

let good: Served;
let bad: Served;
let folder: string;
const at = (name: string): string => join(folder, name);

const routes = (answers: Readonly<Record<string, object>>) =>
  Object.fromEntries(
    Object.entries(answers).map(([path, answer]) => [
      path,
      (_: unknown, response: { end(text: string): unknown }): void =>
        void response.end(`${JSON.stringify(answer)}\n`),
    ]),
  );

beforeAll(async () => {
  await builtProxy();
  folder = await mkdtemp(join(tmpdir(), 'exit-codes-'));
  good = await Served.start(routes(GOOD));
  const unknownNames = [{ name: 'shop/none', reason: 'there is no such Service' }];
  bad = await Served.start(
    routes({
      ...Object.fromEntries(wholeAnswers.map(([, , path, answer]) => [path, answer])),
      '/debug/services': { services: [], unknownNames },
      '/debug/trace': { ...trace, outcome: 'drop', endpoints: [] },
    }),
  );
  await writeFile(at('good.yaml'), SERVICE);
  await writeFile(at('bad.yaml'), SERVICE.replace('port: 80,', 'port: 80000,'));
});
afterAll(async () => {
  await Promise.all([good.stop(), bad.stop()]);
  await rm(folder, { recursive: true });
});

async function run(...args: readonly string[]): Promise<number | undefined> {
  const { exitCode } = await execa(process.execPath, [await builtProxy(), ...args], {
    reject: false,
    stdin: 'ignore',
  });
  return exitCode;
}

/** For each command its arguments without a problem and with one, and whether it queries the proxy. */
const cases: Readonly<
  Record<Exclude<Name, '__complete'>, readonly [() => readonly string[], () => readonly string[], boolean]>
> = {
  status: [() => [], () => [], true],
  services: [() => [], () => ['shop/none'], true],
  explain: [() => ['10.96.0.80'], () => ['10.96.0.80'], true],
  trace: [
    () => ['--from', 'node', '--to', '10.96.0.1:80'],
    () => ['--from', 'node', '--to', '10.96.0.1:80'],
    true,
  ],
  diff: [() => [], () => [], true],
  history: [() => [], () => ['shop/none'], true],
  top: [() => ['--once', '-o', 'json'], () => ['--once', '-o', 'json', 'shop/none'], true],
  'drain-status': [() => [], () => [], true],
  dump: [() => [], () => [], true],
  version: [() => [], () => [], true],
  plan: [
    () => ['--manifests', at('good.yaml'), ...EVERY_NODE],
    () => ['--manifests', at('bad.yaml'), ...EVERY_NODE],
    false,
  ],
  compare: [
    () => ['--plan', 'nftables', '--plan', 'nftables', '--manifests', at('good.yaml'), ...EVERY_NODE],
    () => ['--plan', 'nftables', '--dump', folder, '--manifests', at('good.yaml'), ...EVERY_NODE],
    false,
  ],
  validate: [() => [at('good.yaml')], () => [at('bad.yaml')], false],
  completion: [() => ['bash'], () => [], false],
};

/** Commands that find no problem of their own. A bundle is of the real node, which may lack a part. */
const WITHOUT_PROBLEM: readonly string[] = ['version', 'completion', 'dump'];

it('has a case for each command', () => {
  const names = subcommands.filter((one) => !('isHidden' in one)).map(({ name }) => name);
  expect(Object.keys(cases).sort()).toEqual([...names].sort());
});

describe.each(Object.entries(cases))('%s ends with', (name, [fine, problematic, isQuery]) => {
  const of = (served: Served): readonly string[] =>
    isQuery ? ['--metrics-bind-address', served.address] : [];

  if (name !== 'dump')
    it('0 without a problem', async () => {
      expect(await run(name, ...fine(), ...of(good))).toBe(ExitCode.ok);
    });

  if (!WITHOUT_PROBLEM.includes(name))
    it('1 with a problem', async () => {
      expect(await run(name, ...problematic(), ...of(bad))).toBe(ExitCode.problem);
    });

  it('2 when its command line is invalid', async () => {
    expect(await run(name, ...fine(), '--no-such-flag')).toBe(ExitCode.usage);
  });

  if (isQuery)
    it('3 when no proxy is reachable', async () => {
      const output = name === 'dump' ? ['-o', 'json'] : [];
      expect(await run(name, ...fine(), ...output, '--metrics-bind-address', '127.0.0.1:1')).toBe(
        ExitCode.notReachable,
      );
    });
});

it('the start of the proxy ends with 1 for any invalid flag, as that of kube-proxy', async () => {
  expect(await run('--no-such-flag')).toBe(1);
  expect(await run('--proxy-mode', 'quantum')).toBe(1);
  expect(await run('status', '--proxy-mode', 'quantum')).toBe(ExitCode.usage);
  expect(await run('statsu')).toBe(ExitCode.usage);
});
