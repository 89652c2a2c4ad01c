import { execa } from 'execa';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FreshCheckout } from '../package/fresh-checkout.js';
import { readGuide } from './runner/guide.js';
import { GuideShell } from './runner/guide-shell.js';
import { knowing } from './runner/stand-ins.js';

const page = 'docs/evidence/end-to-end-tests.md';
const guide = readGuide(page);
/** Other specs of the suite. */
const OTHERS = [
  '[sig-network] DNS should provide DNS for services [Conformance]',
  '[sig-network] LoadBalancers should be able to change the type and ports of a TCP service [Slow]',
  '[sig-network] Networking Granular Checks: Services should function for pod-Service: sctp [Feature:SCTPConnectivity]',
  '[sig-network] Services should have session affinity work for LoadBalancer service',
  '[sig-storage] CSI Volumes should mount',
];

describe('the guide for end-to-end tests', () => {
  let checkout: FreshCheckout;
  let shell: GuideShell;
  let folder: string;
  const lists = new Map<string, readonly string[]>();
  /** The list that a run chose, by the file of its report. */
  const chosen = new Map<string, readonly string[]>();

  beforeAll(async () => {
    checkout = await FreshCheckout.make();
    folder = await mkdtemp(join(tmpdir(), 'guide-e2e-'));
    await writeFile(join(folder, 'kubeconfig'), '');
    for (const name of ['services', 'userspace']) {
      const text = await readFile(`docs/evidence/end-to-end-tests/${name}.txt`, 'utf8');
      lists.set(name, text.trim().split('\n'));
    }
    shell = await GuideShell.open({
      folder: checkout.folder,
      env: { KUBECONFIG: join(folder, 'kubeconfig') },
      standIns: {
        curl: knowing({
          '--fail --location --output * https://dl.k8s.io/v1.*/kubernetes-test-linux-amd64.tar.gz': release,
        }),
        ginkgo: knowing({
          '-p --procs=4 --focus=* --output-dir=. --junit-report=* ./e2e.test -- --provider=skeleton --kubeconfig=* --num-nodes=2':
            run,
        }),
      },
    });
  });

  afterAll(async () => {
    await shell?.close();
    await checkout?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  /** Makes a release's archive, with a stand-in for Ginkgo. */
  const release: Parameters<typeof knowing>[0][string] = async ([file], use) => {
    const bin = 'kubernetes/test/bin';
    await mkdir(join(folder, bin), { recursive: true });
    await writeFile(join(folder, bin, 'ginkgo'), '#!/bin/sh\nexec ginkgo "$@"\n', { mode: 0o755 });
    await writeFile(join(folder, bin, 'e2e.test'), '', { mode: 0o755 });
    await execa('tar', ['-czf', join(use.folder, file!), '-C', folder, 'kubernetes']);
  };

  /** Chooses among the specs as Ginkgo does. */
  const run: Parameters<typeof knowing>[0][string] = async ([focus, report, kubeconfig], use) => {
    await readFile(kubeconfig!);
    const pattern = new RegExp(focus!);
    const specs = [...lists.get('services')!, ...OTHERS];
    chosen.set(
      report!,
      specs.filter((spec) => pattern.test(spec)),
    );
    await writeFile(join(use.folder, report!), '');
  };

  it('chooses exactly the specs that it lists, and leaves nothing', async () => {
    const files = (): Promise<{ stdout: string }> => execa('ls', ['-A', checkout.folder]);
    const { stdout: before } = await files();
    await shell.run(guide);
    expect(chosen.get('e2e.xml')).toEqual(lists.get('services'));
    expect(chosen.get('e2e-userspace.xml')).toEqual(lists.get('userspace'));
    expect((await files()).stdout).toBe(before);
  });

  it('names as many specs as its lists have', async () => {
    const text = await readFile(page, 'utf8');
    for (const list of lists.values()) {
      expect(new Set(list).size).toBe(list.length);
      expect(text).toContain(`| ${list.length} of ${list.length} |`);
    }
  });
});
