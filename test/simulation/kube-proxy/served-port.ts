import { usesCluster, type ExpectedEndpoint, type ExpectedPort } from '../checks/expected-ports.js';

/** A port of a Service with what kube-proxy works out of it (docs/spec/iptables.md §6, nftables.md §6.1). */
export interface ServedPort extends ExpectedPort {
  /** Its namespace and name. */
  readonly service: string;
  readonly portName: string;
  /** As comments have it: with the name of the port, if it has one. */
  readonly display: string;
  /** In lower case. */
  readonly protocol: string;
  readonly isExternal: boolean;
  readonly usesCluster: boolean;
  readonly usesLocal: boolean;
  /** Those that any of its chains leads to. */
  readonly reachable: readonly ExpectedEndpoint[];
  readonly isServedInside: boolean;
  readonly isServedOutside: boolean;
}

export function servedPort(port: ExpectedPort): ServedPort {
  const { key, frontends, hasAny, internalPolicyLocal, externalPolicyLocal } = port;
  const [, display = '', service = '', portName = '', protocol = ''] =
    /^(([^:]+?)(?::([^/]+))?)\/([A-Z]+)$/.exec(key)!;
  const isExternal = frontends.some(({ kind }) => kind !== 'cluster-ip');
  const usesLocal = internalPolicyLocal || (externalPolicyLocal && isExternal);
  const cluster = usesCluster(port) ? sorted(port.cluster) : [];
  const local = usesLocal ? sorted(port.local) : [];
  return {
    ...port,
    cluster,
    local,
    service,
    portName,
    display,
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
