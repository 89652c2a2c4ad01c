import type { V1Pod } from '@kubernetes/client-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.js';
import { cart, cartFromOutside, GuideCluster } from './cluster/guide-cluster.js';
import { readGuide } from './runner/guide.js';

const steps = readGuide('docs/install/upgrading.md');

describe('docs/install/upgrading.md', () => {
  let guide: GuideCluster;
  beforeAll(async () => {
    guide = await GuideCluster.start({});
    await guide.install('image.repository=registry.example/kube-proxy-ts', 'mode=nftables');
    await guide.section(steps, 'Upgrading');
  });
  afterAll(async () => {
    await guide?.close();
    expect(guide.shell.left(steps)).toEqual([]);
  });

  const images = (): readonly string[] =>
    guide.cluster.objects<V1Pod>('v1', 'Pod').map(({ spec }) => spec!.containers[0]!.image!);

  it('one node after the other, and back: rules are adopted, and no request is lost', async () => {
    const before = guide.cluster.written();
    const clients = await guide.clients(cart, cartFromOutside);
    const missing = guide.watchReadiness();
    const upgraded = await guide.section(steps, 'Node by node');
    const log = upgraded.map(({ stdout }) => stdout).join('');
    expect([...log.matchAll(/services=\d+ written=0 /g)]).toHaveLength(4);
    expect(new Set(images())).toEqual(new Set(['registry.example/kube-proxy-ts:0.1.1']));
    await guide.section(steps, 'Roll back');
    expect(new Set(images())).toEqual(new Set(['registry.example/kube-proxy-ts:0.1.0']));
    expect(missing()).toBe(1);
    await guide.expectNothingLost(clients);
    expect(withoutReleases(guide.cluster.written())).toEqual(withoutReleases(before));
  });

  it('a version that does not come up stops at the first node', async () => {
    for (const kubelet of guide.cluster.kubelets)
      kubelet.images = new Set(['registry.example/kube-proxy-ts:0.1.0']);
    const command =
      'helm upgrade kube-proxy-ts deploy/chart --namespace kube-system --reuse-values --set image.tag=0.1.2';
    await guide.shell.run([{ place: 'after the guide', section: '', command }]);
    await until('the first node has got it', async () => images().some((image) => image.endsWith(':0.1.2')));
    await sleep(500);
    expect(images().map((image) => image.split(':')[1])).toEqual(expect.arrayContaining(['0.1.0', '0.1.2']));
    expect(await guide.proxiesRunning()).toHaveLength(1);
  });
});

/** Helm keeps each release that there was. */
const withoutReleases = (objects: Readonly<Record<string, object>>): object =>
  Object.fromEntries(Object.entries(objects).filter(([name]) => !name.includes('sh.helm.release')));
