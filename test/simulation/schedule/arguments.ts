import { ADDRESSES } from '../world/settings.js';
import type { Simulation } from '../simulation.js';

/** The command line with which the program is started in a world. */
export function argumentsOf({ world: { settings }, mode }: Pick<Simulation, 'world' | 'mode'>): readonly string[] {
  const { families, nodeName, source } = settings;
  return [
    `--hostname-override=${nodeName}`,
    `--proxy-mode=${mode}`,
    `--cluster-cidr=${families.map((family) => ADDRESSES[family].clusterCIDR).join(',')}`,
    ...(source === 'api' ? ['--kubeconfig=/etc/kubeproxy/kubeconfig'] : ['--manifests=/etc/kubeproxy/manifests']),
    ...settings.arguments,
  ];
}
