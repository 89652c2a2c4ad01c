import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { ApiObject } from '../support/api-server/object-store.js';
import { tokenOf } from '../support/cluster/service-account-roles.js';
import { GuideCluster } from './cluster/guide-cluster.js';
import { readGuide } from './runner/guide.js';

const page = 'docs/install/draining.md';
const steps = readGuide(page);

interface Pod {
  readonly spec: {
    readonly serviceAccountName: string;
    readonly containers: readonly [
      {
        readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
      },
    ];
  };
}

/** An endpoint of `cart` on the second node. */
const ADDRESS = '10.244.2.11';

describe(page, () => {
  let guide: GuideCluster;
  beforeAll(async () => {
    guide = await GuideCluster.start({});
    await guide.install('image.repository=registry.example/kube-proxy-ts', 'mode=nftables');
    await guide.runsOn('clnode1', 'clnode2');
    await guide.inSync();
    await guide.section(steps, 'Draining');
  });
  afterAll(async () => {
    await guide?.close();
    expect(guide.shell.left(steps)).toEqual([]);
  });

  /** Has these endpoints on the second node, and those of the first one. */
  const onSecondNode = (...added: readonly object[]): void => {
    const slices = guide.cluster.objects<ApiObject>('discovery.k8s.io/v1', 'EndpointSlice');
    const slice = slices.find(({ metadata }) => metadata.name === 'cart-a')!;
    const others = (slice['endpoints'] as readonly { nodeName: string }[]).filter(
      ({ nodeName }) => nodeName !== 'clnode2',
    );
    guide.cluster.put([
      { ...slice, endpoints: [...others, ...added.map((one) => ({ ...one, nodeName: 'clnode2' }))] },
    ]);
  };

  it('the hook waits until no node leads connections to the pod, with the rights of its account', async () => {
    await guide.section(steps, 'A pod');
    const [, yaml] = /```yaml\n([^`]*)```/.exec(await readFile(page, 'utf8'))!;
    const { serviceAccountName, containers } = (parse(yaml!) as Pod).spec;
    const [shell, flag, text] = containers[0].lifecycle.preStop.exec.command;
    expect([shell, flag]).toEqual(['sh', '-c']);
    // In a pod the token is found by itself, and a failure must be seen here.
    const own = text!
      .replace(' || true', '')
      .replace('drain-status ', `drain-status --token ${tokenOf('shop', serviceAccountName)} `);
    const command = `POD_IP=${ADDRESS} sh -c '${own}'`;
    let hasEnded = false;
    const hook = guide.shell.run([{ place: 'the hook', section: '', command }]).then(([outcome]) => {
      hasEnded = true;
      return outcome!;
    });
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(hasEnded).toBe(false);
    // The Service has the policy Local: the last endpoint of a node would go on serving.
    onSecondNode(
      { addresses: [ADDRESS], conditions: { ready: false, serving: true, terminating: true } },
      { addresses: ['10.244.2.12'], conditions: { ready: true } },
    );
    expect((await hook).stdout).toMatch(/^safe to stop: no connection leads there$/m);
  });

  it('a node without endpoints is safe to stop', async () => {
    onSecondNode();
    await guide.section(steps, 'A node');
  });
});
