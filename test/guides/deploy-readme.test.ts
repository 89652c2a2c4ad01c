import { join } from 'node:path';
import { nightly } from '../support/nightly.js';
import { GuideCluster } from './cluster/guide-cluster.js';
import { imageIn, packOnly } from './cluster/image-archive.js';
import { readGuide } from './runner/guide.js';
import { knowing } from './runner/stand-ins.js';

const page = 'deploy/README.md';
const steps = readGuide(page);
/** docs/install/kubeadm.md has the same two with the same files. */
const ALSO_IN_A_GUIDE = ['Another image for kube-proxy', 'A separate DaemonSet'];
const ways = [...(nightly ? ALSO_IN_A_GUIDE : []), 'With Helm'];

describe(page, () => {
  let guide: GuideCluster;
  beforeAll(async () => {
    const podman = knowing({
      'load -i *': ([file], { folder }) => imageIn(join(folder, file!)),
    });
    guide = await GuideCluster.start({ mode: 'nftables', standIns: { podman } });
    await packOnly(guide.checkout.folder);
  });
  afterAll(async () => {
    await guide?.close();
    const tried = steps.filter(({ section }) => nightly || !ALSO_IN_A_GUIDE.includes(section));
    expect(guide.shell.left(tried)).toEqual([]);
  });

  it.each(ways)('%s, and back', async (section) => {
    const before = guide.cluster.written();
    const own = steps.filter((step) => step.section === section);
    await guide.shell.run(own.slice(0, -1));
    await guide.runsOn('clnode1', 'clnode2');
    await guide.shell.run(own.slice(-1));
    await guide.runsOn();
    expect(guide.cluster.written()).toEqual(before);
  });

  it('The image', () => guide.section(steps, 'The image'));
});
