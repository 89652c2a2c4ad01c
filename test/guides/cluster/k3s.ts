import type { StandInCluster } from '../../support/cluster/stand-in-cluster.js';
import type { Machine } from '../runner/machine.js';
import { knowing, type StandIn } from '../runner/stand-ins.js';
import { imageIn } from './image-archive.js';

/** In the place of k3s on a server: the kube-proxy inside it, and its containerd. */
export class K3s {
  /** Whether the kube-proxy inside it runs. */
  runsKubeProxy = true;
  private cluster: StandInCluster | undefined;

  constructor(private readonly machine: Machine) {}

  /** The cluster that it is: nodes have no image but what is imported. */
  serve(cluster: StandInCluster): void {
    this.cluster = cluster;
    for (const kubelet of cluster.kubelets) kubelet.images = new Set();
  }

  readonly k3s: StandIn = knowing({
    'ctr images import *': async ([archive], { folder }) => {
      const image = await imageIn(`${folder}/${archive}`);
      // The guide says to do so on every node.
      for (const { images } of this.cluster!.kubelets) images!.add(image);
    },
  });

  readonly systemctl: StandIn = knowing({
    'restart k3s': async () => {
      const settings = await this.machine.run([
        'sh',
        '-c',
        'cat /etc/rancher/k3s/config.yaml.d/*.yaml || true',
      ]);
      this.runsKubeProxy = !/^disable-kube-proxy: true$/m.test(settings);
      if (this.runsKubeProxy && this.cluster!.objects('v1', 'Pod').length > 0)
        throw new Error('two proxies would run on this node');
    },
  });
}
