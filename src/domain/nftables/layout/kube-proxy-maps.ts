import { BY_ADDRESS, BY_NODE_PORT, VARIANTS, type FrontendVariant } from './sets.js';
import type { SetDefinition } from './table.js';

/** The maps by which kube-proxy's rules find what belongs to a frontend of one kind (docs/internals/spec/nftables.md §3.3). */
interface KubeProxyMaps {
  /** Led to from `services`. */
  readonly services: SetDefinition;
  readonly noEndpoints: SetDefinition;
  /** Node ports have no source ranges. */
  readonly firewall?: SetDefinition;
}

const BY_VARIANT: ReadonlyMap<FrontendVariant, KubeProxyMaps> = new Map([
  [
    BY_ADDRESS,
    {
      services: verdictMap('service-ips', BY_ADDRESS),
      noEndpoints: verdictMap('no-endpoint-services', BY_ADDRESS),
      firewall: verdictMap('firewall-ips', BY_ADDRESS),
    },
  ],
  [
    BY_NODE_PORT,
    {
      services: verdictMap('service-nodeports', BY_NODE_PORT),
      noEndpoints: verdictMap('no-endpoint-nodeports', BY_NODE_PORT),
    },
  ],
]);

/**
 * Those of one kind of frontend. They are in our table only where it was kube-proxy's and a service port cannot be programmed: its
 * elements stay, with the chains to which they lead, and so do the rules that look them up, after ours.
 */
export function kubeProxyMapsOf(variant: FrontendVariant): KubeProxyMaps {
  return BY_VARIANT.get(variant)!;
}

/** The same as a list. */
export function listedKubeProxyMaps(variant: FrontendVariant): readonly SetDefinition[] {
  return Object.values(kubeProxyMapsOf(variant)) as SetDefinition[];
}

export const KUBE_PROXY_MAPS: readonly SetDefinition[] = VARIANTS.flatMap(listedKubeProxyMaps);

/** A map that the tables of kube-proxy and of the oldest version have. */
export const MAP_OF_ANOTHER_LAYOUT = kubeProxyMapsOf(BY_ADDRESS).services.name;

const CHAIN_OF_SERVICE_PORT = /^goto (?:service|local|external|firewall)-[A-Z2-7]{8}-(.+)$/;

/** The service port in the name of the chain that an element leads to, as `namespace/name/protocol/port`; undefined if it names none. */
export function servicePortInVerdict(verdict: string): string | undefined {
  return CHAIN_OF_SERVICE_PORT.exec(verdict)?.[1];
}

/** Whether kube-proxy has a chain or set of this name to which its maps lead, and this program has not. */
export function isBehindKubeProxyMaps(name: string): boolean {
  return name.includes('/') || name === 'reject-chain';
}

function verdictMap(name: string, { types }: FrontendVariant): SetDefinition {
  return { name, key: types, value: 'verdict' };
}
