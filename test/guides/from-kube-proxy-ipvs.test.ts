import type { V1ConfigMap } from '@kubernetes/client-node';
import { parse, stringify } from 'yaml';
import { kubeadmObjects } from '../support/cluster/kubeadm-objects.js';
import { cart, cartFromOutside, GuideCluster } from './cluster/guide-cluster.js';
import { readGuide } from './runner/guide.js';

const page = 'docs/clusters/from-kube-proxy-ipvs.md';
const steps = readGuide(page);

/** kubeadm's objects, with the section that it writes for mode ipvs, of which a user changed two fields. */
function objects(): ReturnType<typeof kubeadmObjects> {
  const ipvs = {
    excludeCIDRs: null,
    minSyncPeriod: '0s',
    scheduler: 'lc',
    strictARP: true,
    syncPeriod: '0s',
    tcpFinTimeout: '0s',
    tcpTimeout: '0s',
    udpTimeout: '0s',
  };
  return kubeadmObjects('ipvs').map((object) => {
    if (object.kind !== 'ConfigMap') return object;
    const { data, ...rest } = object as unknown as Required<V1ConfigMap>;
    const config: object = parse(data['config.conf']!);
    const all = stringify({ ...config, ipvs, logging: {}, nodePortAddresses: null });
    return { ...rest, data: { ...data, 'config.conf': all } } as never;
  });
}

describe(page, () => {
  let guide: GuideCluster;
  beforeAll(async () => {
    guide = await GuideCluster.start({ mode: 'ipvs' });
    guide.cluster.put(objects());
    await guide.section(steps, 'From kube-proxy in IPVS mode');
  });
  afterAll(async () => {
    await guide?.close();
    expect(guide.shell.left(steps)).toEqual([]);
  });

  it('one node, all nodes, and back: node ports stay where they were, no request is lost, objects are as they were', async () => {
    const before = guide.cluster.written();
    await guide.section(steps, 'Differences');
    await guide.section(steps, 'The first node');
    await guide.runsOn('clnode1');
    const clients = await guide.clients(cart, cartFromOutside);
    const maps = guide.cluster.objects<V1ConfigMap>('v1', 'ConfigMap');
    const { data } = maps.find(({ metadata }) => metadata!.name === 'kube-proxy-ts')!;
    expect(parse(data!['config.conf']!)).toMatchObject({ mode: 'nftables', nodePortAddresses: ['all'] });
    await guide.section(steps, 'All nodes');
    await guide.runsOn('clnode1', 'clnode2');
    await guide.section(steps, 'Way back');
    await guide.runsOn();
    await guide.expectNothingLost(clients);
    expect(guide.cluster.written()).toEqual(before);
  });
});
