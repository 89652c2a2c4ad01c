import { ADDRESSES } from '../world/settings.js';
import type { Simulation } from '../simulation.js';

/** The command line with which the program is started in a world. */
export function argumentsOf(simulation: Pick<Simulation, 'world' | 'mode' | 'arguments'>): readonly string[] {
  const { settings } = simulation.world;
  const { families, nodeName, source } = settings;
  return [
    `--hostname-override=${nodeName}`,
    `--proxy-mode=${simulation.mode}`,
    `--cluster-cidr=${families.map((family) => ADDRESSES[family].clusterCIDR).join(',')}`,
    ...(source === 'api'
      ? ['--kubeconfig=/etc/kubeproxy/kubeconfig']
      : ['--manifests=/etc/kubeproxy/manifests']),
    ...simulation.arguments,
  ];
}
