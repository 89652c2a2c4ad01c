import type { IpFamily } from '../../../domain/net/ip-family.js';
import { KUBE_PROXY_MAPS } from '../../../domain/nftables/layout/kube-proxy-maps.js';
import { CLUSTER_IPS, HAIRPIN_CONNECTIONS } from '../../../domain/nftables/layout/sets.js';
import type { AdoptedSets } from '../../../domain/nftables/state/adopted-rules.js';
import type { NftTransport, TableState } from '../transport.js';
import { isOfAnotherLayout } from './difference.js';

const OF_KUBE_PROXY: ReadonlySet<string> = new Set(
  [...KUBE_PROXY_MAPS, CLUSTER_IPS, HAIRPIN_CONNECTIONS].map(({ name }) => name),
);

/** What of a table can be kept: of one that kube-proxy wrote its maps, and what it shares with ours. */
export function adoptedSets(
  actual: TableState | undefined,
  family: IpFamily,
  transport: NftTransport,
): AdoptedSets {
  if (!actual) return new Map();
  if (!isOfAnotherLayout(actual, family, transport)) return actual.sets;
  return new Map([...actual.sets].filter(([name]) => OF_KUBE_PROXY.has(name)));
}
