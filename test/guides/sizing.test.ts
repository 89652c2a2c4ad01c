import type { V1DaemonSet } from '@kubernetes/client-node';
import { execa } from 'execa';
import { readFile } from 'node:fs/promises';
import { helm, manifestsIn } from '../deploy/cluster-tools.js';
import { FreshCheckout } from '../package/fresh-checkout.js';
import { nightly } from '../support/nightly.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { Testbed } from '../support/testbed/testbed.js';
import { readGuide } from './runner/guide.js';
import { GuideShell } from './runner/guide-shell.js';
import { knowing } from './runner/stand-ins.js';

const page = 'docs/evidence/sizing.md';
const guide = readGuide(page);
const MI = 1024 ** 2;
const CONFIGURATION = `
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
hostnameOverride: demo-node
`;

/** The table's rows, as words. */
async function rows(file: string): Promise<readonly (readonly string[])[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.startsWith('| '));
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe('the figures of the guide for sizing', () => {
  it('are those measured, and requests cover them', async () => {
    const [, ...sizes] = await rows(page);
    const peaks = (await rows('docs/evidence/performance.md')).find(([what]) =>
      what?.startsWith('peak memory: start, restart'),
    )!;
    const measured = new Map(
      ['10,000', '30,000', '100,000', '10,000 on 24'].map((size, at) => [size, peaks[at + 1]!]),
    );
    const largest = (size: string): number => Math.max(...measured.get(size)!.match(/\d+/g)!.map(Number));
    for (const [services, node20, node24, request, limit] of sizes.filter(([services]) =>
      services?.match(/^\D*\d/),
    )) {
      const mebibytes = Number(request!.replace('Mi', ''));
      const megabytes = [node20!, node24!]
        .filter((peak) => peak !== '–')
        .map((peak) => Number(peak.replace(' MB', '')));
      expect(mebibytes * MI).toBeGreaterThan(Math.max(...megabytes) * 1e6);
      expect(limit).toBe(`${2 * mebibytes}Mi`);
      if (node20 !== '–') expect(megabytes[0]).toBe(largest(services!));
      if (services === '10,000') expect(megabytes[1]).toBe(largest('10,000 on 24'));
    }
  });
});

describe('the commands of the guide for sizing', () => {
  let testbed: Testbed;
  let proxy: ProxyProcess;
  let checkout: FreshCheckout;
  let shell: GuideShell;

  beforeAll(async () => {
    [testbed, checkout] = await Promise.all([Testbed.open(), FreshCheckout.make()]);
    proxy = await ProxyProcess.start({
      host: testbed.node,
      config: CONFIGURATION,
      objects: await readFile('deploy/examples/web.yaml', 'utf8'),
    });
    shell = await GuideShell.open({
      folder: checkout.folder,
      within: (command) => testbed.node.commandLine(command),
      standIns: {
        npm: knowing({
          install: () => undefined,
          // Measured by test/kernel/bench, too.
          'run bench -- --this-node --services * --endpoints *': ([services, endpoints]) =>
            nightly ? measure(Number(services) / 100, endpoints!) : '',
        }),
        helm: knowing({
          'upgrade kube-proxy-ts deploy/chart --namespace kube-system --reuse-values --set *': (
            [values],
            { folder },
          ) => helm(['template', 'kube-proxy-ts', `${folder}/deploy/chart`, '--set', values!], installed),
        }),
      },
    });
  });

  afterAll(async () => {
    await shell?.close();
    await proxy?.remove();
    await checkout?.remove();
    await testbed?.close();
  });

  const installed = { apiServer: 'https://10.0.0.10:6443', clusterCIDR: '10.244.0.0/16' };
  const measure = async (services: number, endpoints: string): Promise<string> => {
    const size = ['--services', String(services), '--endpoints', endpoints];
    const { stdout } = await execa(process.execPath, ['bench/run.mjs', '--this-node', ...size]);
    return stdout;
  };

  it('say how much the proxy has and takes, measure a size, and give it that', async () => {
    const outcomes = await shell.run(guide);
    const [figures, bench, upgrade] = outcomes.map(({ stdout }) => stdout);
    expect(figures).toMatch(/^kube_proxy_ts_service_ports\{ip_family="IPv4",state="programmed"\} [1-9]/m);
    expect(figures!.match(/^process_(?:resident_memory_bytes|cpu_seconds_total) [\d.e+]+$/gm)).toHaveLength(
      2,
    );
    if (nightly) expect(bench).toMatch(/^\| 100 × 5 \|.* \d+, \d+, \d+ MB \|$/m);
    const daemonSet = manifestsIn(upgrade!).find(({ kind }) => kind === 'DaemonSet') as V1DaemonSet;
    expect(daemonSet.spec!.template.spec!.containers[0]!.resources).toEqual({
      requests: { cpu: '20m', memory: '192Mi' },
      limits: { memory: '384Mi' },
    });
    expect(shell.left(guide)).toEqual([]);
  });
});
