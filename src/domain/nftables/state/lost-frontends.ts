import { NODE_PORT, type FrontendAddress } from '../../conntrack/frontend-map.js';
import { VARIANTS } from '../layout/keys.js';
import { setsOf } from '../layout/sets.js';
import type { AdoptedSets } from './adopted-rules.js';
import type { NftablesDesiredState } from './desired-state.js';

/** The UDP frontends that led to endpoints before, and no longer do. */
export function lostUdpFrontends(
  before: AdoptedSets,
  desired: NftablesDesiredState,
): readonly FrontendAddress[] {
  return VARIANTS.flatMap((variant) => {
    const { frontends } = setsOf(variant);
    const keys = [...(before.get(frontends.name)?.elements.keys() ?? [])].filter(isUdp);
    if (keys.length === 0) return [];
    const wanted = new Set<string>();
    desired.forEachElement(({ set, key }) => {
      if (set === frontends) wanted.add(key);
    });
    return keys.filter((key) => !wanted.has(key)).map(frontendAddress);
  });
}

/** Keys are `10.96.0.10 . udp . 53`, or `udp . 30053` for a node port. */
function isUdp(key: string): boolean {
  return key.split(' . ').at(-2) === 'udp';
}

function frontendAddress(key: string): FrontendAddress {
  const [port, , address = NODE_PORT] = key.split(' . ').reverse();
  return { address, port: Number(port) };
}
