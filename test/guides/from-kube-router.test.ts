import type { V1DaemonSet, V1Node } from '@kubernetes/client-node';
import { cart, cartFromOutside, GuideCluster } from './cluster/guide-cluster.js';
import { neighbour } from './cluster/neighbour.js';
import { readGuide } from './runner/guide.js';
import { knowing } from './runner/stand-ins.js';

const page = 'docs/clusters/from-kube-router.md';
const steps = readGuide(page);
const IMAGE = 'docker.io/cloudnativelabs/kube-router:v2.5.0';
const ARGS = ['--run-router=true', '--run-firewall=true', '--kubeconfig=/var/lib/kube-router/kubeconfig'];

describe(page, () => {
  let guide: GuideCluster;
  /** Nodes without pods at the moment that kube-router cleaned up. */
  let drained: readonly string[] = [];

  const router = (): V1DaemonSet =>
    guide.cluster
      .objects<V1DaemonSet>('apps/v1', 'DaemonSet')
      .find(({ metadata }) => metadata!.name === 'kube-router')!;
  const cordoned = (): readonly string[] =>
    guide.cluster
      .objects<V1Node>('v1', 'Node')
      .filter(({ spec }) => spec!.unschedulable)
      .map(({ metadata }) => metadata!.name!);

  beforeAll(async () => {
    guide = await GuideCluster.start({
      standIns: {
        ctr: knowing({
          [`image pull ${IMAGE}`]: () => undefined,
          [`run --rm --privileged --net-host --mount type=bind,src=/lib/modules,dst=/lib/modules,options=rbind:ro --mount type=bind,src=/run/xtables.lock,dst=/run/xtables.lock,options=rbind:rw ${IMAGE} kube-router-cleanup /usr/local/bin/kube-router --cleanup-config`]:
            () => {
              drained = cordoned();
            },
        }),
      },
    });
    guide.cluster.put([neighbour('kube-router', IMAGE, [...ARGS, '--run-service-proxy=true'])]);
    await guide.section(steps, "From kube-router's service proxy");
  });
  afterAll(async () => {
    await guide?.close();
    expect(guide.shell.left(steps)).toEqual([]);
  });

  it('beside it, in its place, and back: requests are answered, a node that is cleaned up is empty, objects are as they were', async () => {
    const before = guide.cluster.written();
    await guide.section(steps, 'Install this proxy');
    await guide.runsOn('clnode1', 'clnode2');
    const clients = await guide.clients(cart, cartFromOutside);
    await guide.section(steps, "Turn off kube-router's service proxy");
    expect(router().spec!.template.spec!.containers[0]!.args).toEqual([...ARGS, '--run-service-proxy=false']);
    await guide.section(steps, 'Clean up');
    expect([drained, cordoned()]).toEqual([['clnode1'], []]);
    await guide.expectNothingLost(clients);
    await guide.section(steps, 'Way back');
    await guide.runsOn();
    expect(await guide.testbed.node.run(['nft', 'list', 'tables'])).not.toContain('kube-proxy');
    expect(guide.cluster.written()).toEqual(before);
  });
});
