import { createHash } from 'node:crypto';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { usesCluster, type ExpectedEndpoint, type ExpectedPort } from '../checks/expected-ports.js';
import type { Machine } from '../kernel/machine.js';

/** Marks packets that are to be masqueraded. */
export const MARK = '0x00004000';

/** What kube-proxy has of the Node object, for one family. */
export interface KubeProxyNode {
  readonly address: string;
  /** Whose traffic is that of local pods. */
  readonly localNetwork: string;
}

/** What kube-proxy does in one mode. */
export interface KubeProxyMode {
  /** At its start, before the first sync. */
  begin?(machine: Machine, families: readonly IpFamily[]): void;
  /** Whether most syncs write only what changed since the one before, and leave what others have done to the rest. */
  readonly syncsPartially?: boolean;
  /**
   * Writes what the ports of one family ask for. Throws Error if the kernel rejects it.
   * @param changed Services that may have changed since the last sync, which went well; undefined: everything is to be written
   */
  sync(
    machine: Machine,
    family: IpFamily,
    ports: readonly ServedPort[],
    node: KubeProxyNode,
    changed?: ReadonlySet<string>,
  ): void;
  /** Asked twice a minute: whether everything is to be written again. */
  isDamaged(machine: Machine, families: readonly IpFamily[]): boolean;
  /** Removes what the mode writes. */
  remove(machine: Machine, families: readonly IpFamily[]): void;
}

/** A port of a Service with what kube-proxy works out of it (docs/internals/spec/iptables.md §6, nftables.md §6.1). */
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

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const BITS = 5;

/** The first letters of a text's SHA-256 in Base32, from which kube-proxy makes names. */
export function hashOf(text: string, letters: number): string {
  const bits = [...createHash('sha256').update(text).digest()]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  return Array.from(
    { length: letters },
    (_, index) => LETTERS[Number.parseInt(bits.slice(index * BITS, (index + 1) * BITS), 2)],
  ).join('');
}
