import { isHashed, weightOf, type BalancingMethod } from '../../../domain/balancing/balancing.js';
import { slotShares, type SlotShare } from '../../../domain/balancing/slots.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import { endpointPlace, type Endpoint } from '../../../domain/model/endpoint.js';

/** How endpoints are chosen where not all have equal chances at random. */
export interface Choice {
  /** For people. */
  readonly text: string;
  /** By `ip:port`: of the policy Cluster, or where no frontend has it, of the policy Local. */
  readonly shares: ReadonlyMap<string, SlotShare>;
}

const METHODS: Readonly<Record<BalancingMethod, string>> = {
  random: 'at random',
  'round-robin': 'one after another',
  maglev: "by a hash of the client's address and port (maglev)",
  'maglev-source': "by a hash of the client's address (maglev-source)",
};

/**
 * Undefined where the Service asks for nothing else.
 * @param mode other modes than nftables choose in their own ways, so only the weights can be told
 */
export function choiceOf({ balancing, endpoints }: ForwardingEntry, mode: string): Choice | undefined {
  if (!balancing) return undefined;
  const list = endpoints.cluster ?? endpoints.local ?? [];
  const shares = mode === 'nftables' ? slotShares(list, balancing) : weightShares(list);
  const places = new Map(list.map((endpoint, place) => [endpointPlace(endpoint), shares[place]!]));
  const method = isHashed(balancing.method) && mode === 'iptables' ? 'random' : balancing.method;
  const by = `new connections are shared out ${METHODS[method]}${balancing.isWeighted ? ', by weight' : ''}`;
  return { text: mode === 'nftables' ? `${by}${exactness(list, shares)}` : by, shares: places };
}

function weightShares(list: readonly Endpoint[]): readonly SlotShare[] {
  const of = list.reduce((sum, endpoint) => sum + weightOf(endpoint), 0);
  return list.map((endpoint) => ({ slots: weightOf(endpoint), of }));
}

/** How many slots there are, and how far a share is from what weights ask for, at most. */
function exactness(list: readonly Endpoint[], shares: readonly SlotShare[]): string {
  const [first] = shares;
  if (!first || list.length < 2) return '';
  const total = list.reduce((sum, endpoint) => sum + weightOf(endpoint), 0);
  const deviations = list.map((endpoint, place) => {
    const wanted = weightOf(endpoint) / total;
    return Math.abs(shares[place]!.slots / first.of - wanted) / wanted;
  });
  const most = Math.max(...deviations);
  return `: ${first.of} slots, each share ${most < 1e-9 ? 'exact' : `within ${(most * 100).toFixed(2)} % of what it should be`}`;
}
