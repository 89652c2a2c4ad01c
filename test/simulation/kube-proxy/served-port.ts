import { usesCluster, type ExpectedEndpoint, type ExpectedPort } from '../checks/expected-ports.js';

/** A port of a Service with what kube-proxy works out of it (docs/spec/iptables.md §6, nftables.md §6.1). */
export interface ServedPort extends Omit<ExpectedPort, 'protocol'> {
  /** As comments have it: with the name of the port, if it has one. */
  readonly display: string;
  /** In lower case. */
  readonly protocol: string;
  /** Seconds; 0 without affinity. */
  readonly affinity: number;
  readonly isExternal: boolean;
  readonly usesCluster: boolean;
  readonly usesLocal: boolean;
  /** Those that any of its chains leads to. */
  readonly reachable: readonly ExpectedEndpoint[];
  readonly isServedInside: boolean;
  readonly isServedOutside: boolean;
}

export function servedPort(port: ExpectedPort): ServedPort {
  const { service, portName, protocol, hasAny, internalPolicyLocal, externalPolicyLocal } = port;
  const isExternal = port.isExternallyAccessible;
  const usesLocal = internalPolicyLocal || (externalPolicyLocal && isExternal);
  const cluster = usesCluster(port) ? sorted(port.cluster) : [];
  const local = usesLocal ? sorted(port.local) : [];
  return {
    ...port,
    cluster,
    local,
    display: portName === '' ? service : `${service}:${portName}`,
    affinity: port.affinitySeconds,
    protocol: protocol.toLowerCase(),
    isExternal,
    usesCluster: usesCluster(port),
    usesLocal,
    reachable: [...new Map([...cluster, ...local].map((each) => [place(each), each])).values()],
    isServedInside: hasAny && (!internalPolicyLocal || local.length > 0),
    isServedOutside: hasAny && (!externalPolicyLocal || local.length > 0),
  };
}

/** An address and port, as kube-proxy writes and sorts them. */
export function place({ address, port }: Pick<ExpectedEndpoint, 'address' | 'port'>): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function sorted(endpoints: readonly ExpectedEndpoint[]): readonly ExpectedEndpoint[] {
  return endpoints.toSorted((one, other) => (place(one) < place(other) ? -1 : 1));
}
