import type { IpFamily } from '../../../domain/net/ip-family.js';

/** Of the ranges for documentation, in which no real machine is (RFC 5737, 3849, 9637). */
const CANDIDATES: Readonly<Record<IpFamily, readonly string[]>> = {
  IPv4: ['203.0.113.77', '198.51.100.77', '192.0.2.77'],
  IPv6: ['2001:db8:ffff::77', '3fff::77'],
};

/** An address outside the cluster. The first candidate if all are in the cluster, where documentation ranges do not belong. */
export function outsideAddress(family: IpFamily, isInCluster: (address: string) => boolean): string {
  const candidates = CANDIDATES[family];
  return candidates.find((candidate) => !isInCluster(candidate)) ?? candidates[0]!;
}
