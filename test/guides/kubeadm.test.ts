import { nightly } from '../support/nightly.js';
import { cart, cartFromOutside, GuideCluster } from './cluster/guide-cluster.js';
import { readGuide } from './runner/guide.js';

const steps = readGuide('docs/install/kubeadm.md');
const HELM = 'The same with Helm';
/** The same chart is installed and taken away by the commands of deploy/README.md, and by other guides. */
const ways = ['Another image', 'A DaemonSet of its own', ...(nightly ? [HELM] : [])];

describe('docs/install/kubeadm.md', () => {
  let guide: GuideCluster;
  beforeAll(async () => {
    guide = await GuideCluster.start({ mode: 'nftables' });
    await guide.section(steps, 'kubeadm clusters');
  });
  afterAll(async () => {
    await guide?.close();
    const tried = steps.filter(({ section }) => nightly || !section.startsWith(HELM));
    expect(guide.shell.left(tried)).toEqual([]);
  });

  it.each(ways)('%s, and back: objects are as they were, and no request is lost', async (way) => {
    const before = guide.cluster.written();
    const clients = await guide.clients(cart, cartFromOutside);
    await guide.section(steps, way);
    await guide.runsOn('clnode1', 'clnode2');
    await guide.section(steps, `${way}: way back`);
    await guide.runsOn();
    await guide.expectNothingLost(clients);
    expect(guide.cluster.written()).toEqual(before);
  });
});
