import { kubeadmObjects } from '../support/cluster/kubeadm-objects.js';
import { sampleOf } from '../support/nightly.js';
import { cart, cartFromOutside, GuideCluster } from './cluster/guide-cluster.js';
import { readGuide, type Step } from './runner/guide.js';

const page = 'docs/install/going-back.md';
const steps = readGuide(page);
const park: Step = {
  place: 'before the guide',
  section: '',
  command: `kubectl -n kube-system patch daemonset kube-proxy --type merge \
    -p '{"spec":{"template":{"spec":{"nodeSelector":{"service-proxy":"kube-proxy"}}}}}'`,
};

describe(page, () => {
  let guide: GuideCluster;
  beforeAll(async () => {
    guide = await GuideCluster.start({ mode: 'nftables' });
    await guide.section(steps, 'Going back to kube-proxy');
  });
  afterAll(async () => {
    await guide?.close();
    expect(guide.shell.left(steps)).toEqual([]);
  });

  /** This proxy in one mode, and kube-proxy parked, in another or the same. */
  async function installed(mode: string, kubeProxyMode: string): Promise<Record<string, object>> {
    guide.cluster.put(kubeadmObjects(kubeProxyMode));
    const before = guide.cluster.written();
    await guide.shell.run([park]);
    await guide.install('image.repository=registry.example/kube-proxy-ts', `mode=${mode}`);
    return before;
  }

  const rules = async (): Promise<string> => {
    const commands = ['nft list tables', 'iptables-save', 'ip6tables-save'];
    const listed = await Promise.all(commands.map((command) => guide.testbed.node.run(command.split(' '))));
    return listed.join('\n').replace(/\[\d+:\d+\]|^#.*$/gm, '');
  };

  it.each(
    sampleOf([
      ['nftables', ''],
      ['iptables', 'nftables'],
      ['userspace', 'nftables'],
    ] as const),
  )('from mode %s to kube-proxy in mode "%s"', async (mode, kubeProxyMode) => {
    const before = await installed(mode, kubeProxyMode);
    const earlier = mode === 'userspace' ? [] : await guide.clients(cart, cartFromOutside);
    await guide.section(steps, 'Change the mode');
    const clients = await guide.clients(cart, cartFromOutside);
    const present = await rules();
    expect(present.includes('KUBE-SVC-')).toBe(kubeProxyMode === '');
    expect(present.includes('KUBE-PORTALS-')).toBe(false);
    await guide.section(steps, 'Exchange the proxies');
    await guide.runsOn();
    await guide.expectNothingLost([...earlier, ...clients]);
    // kube-proxy's rules of mode iptables were not recorded for these objects: what is there stays, and test/kernel/iptables-takeover
    // shows that they are the same.
    if (kubeProxyMode === '') expect(await rules()).toBe(present);
    expect(guide.cluster.written()).toEqual(before);
  });

  it('node by node, by way of the mode of kube-proxy', async () => {
    guide.cluster.put(kubeadmObjects(''));
    const before = guide.cluster.written();
    const prepare = 'kubectl label nodes --all service-proxy=kube-proxy-ts';
    await guide.shell.run([{ ...park, command: prepare }, park]);
    await guide.install('image.repository=registry.example/kube-proxy-ts', 'mode=nftables', 'nodes=labelled');
    const clients = await guide.clients(cart, cartFromOutside);
    await guide.section(steps, 'Node by node');
    await guide.runsOn();
    await guide.expectNothingLost(clients);
    const removed = `helm uninstall kube-proxy-ts kube-proxy-ts-iptables -n kube-system && kubectl label nodes --all service-proxy- &&
      kubectl -n kube-system patch daemonset kube-proxy --type merge \\
      -p '{"spec":{"template":{"spec":{"nodeSelector":{"service-proxy":null}}}}}'`;
    await guide.shell.run([{ ...park, command: removed }]);
    expect(guide.cluster.written()).toEqual(before);
    // Each look at a node is a start of the program.
  }, 400_000);

  it('no service proxy at all', async () => {
    await installed('iptables', '');
    await guide.section(steps, 'Remove all rules');
    const present = await rules();
    expect(present).not.toMatch(/KUBE-(?!FIREWALL)|kube-proxy$/m);
  });
});
