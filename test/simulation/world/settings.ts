import type { IpFamily } from '../../../src/domain/net/ip-family.js';

export const MODES = ['nftables', 'iptables', 'ipvs', 'userspace'] as const;
export type Mode = (typeof MODES)[number];

/** An argument with which node ports on loopback addresses are rejected in mode nftables; nobody in a world asks for them. */
export const REJECTS_LOCALHOST = '--feature-gates=KubeProxyNFTablesLocalhostNodePorts=true';
/** With this one besides, TCP is not. */
export const NAMES_LOOPBACK = '--nodeport-addresses=127.0.0.0/8,0.0.0.0/0,::1/128,::/0';
/** Node ports are served at the addresses of the network of the Node's, of those that a node of a world may have. */
export const NAMES_ONE_NETWORK = '--nodeport-addresses=192.0.2.0/24,2001:db8::/64';
/** The Node's podCIDRs decide whose traffic is that of local pods, not the network of all pods. */
export const LOCAL_BY_NODE = '--detect-local-mode=NodeCIDR';

/** What a world begins with, besides the steps that happen in it. */
export interface WorldSettings {
  readonly seed: number;
  /** The mode with which the program is started first. */
  readonly mode: Mode;
  readonly families: readonly IpFamily[];
  readonly nodeName: string;
  /** The release of the kernel, such as `6.18.0`. */
  readonly kernel: string;
  /** Which tools `iptables` starts. */
  readonly iptables: 'nft' | 'legacy';
  /** Where objects come from. */
  readonly source: 'api' | 'manifests';
  /** Further arguments of the program. */
  readonly arguments: readonly string[];
}

/** Addresses of the simulated node and its neighbours, one for each family. */
export const ADDRESSES: Readonly<
  Record<
    IpFamily,
    {
      readonly node: string;
      readonly otherNode: string;
      readonly pods: string;
      readonly clusterCIDR: string;
      readonly services: string;
    }
  >
> = {
  IPv4: {
    node: '192.0.2.11',
    otherNode: '192.0.2.12',
    pods: '10.244.1.',
    clusterCIDR: '10.244.0.0/16',
    services: '10.96.0.0/16',
  },
  IPv6: {
    node: '2001:db8::11',
    otherNode: '2001:db8::12',
    pods: 'fd00:10:244:1::',
    clusterCIDR: 'fd00:10:244::/48',
    services: 'fd00:10:96::/112',
  },
};
