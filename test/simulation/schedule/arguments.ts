import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { ADDRESSES, LOCAL_BY_NODE, type WorldSettings } from '../world/settings.js';
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

/** Whose traffic is that of local pods, where the Node has these podCIDRs. */
export function localNetworks(
  { arguments: given }: WorldSettings,
  podNetworks: Readonly<Record<IpFamily, string>>,
): Readonly<Record<IpFamily, string>> {
  if (given.includes(LOCAL_BY_NODE)) return { ...podNetworks };
  return { IPv4: ADDRESSES.IPv4.clusterCIDR, IPv6: ADDRESSES.IPv6.clusterCIDR };
}
