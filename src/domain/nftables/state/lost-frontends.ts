import { frontendText, NODE_PORT, type FrontendAddress } from '../../conntrack/frontend-map.js';
import { VARIANTS } from '../layout/keys.js';
import { setsOf } from '../layout/sets.js';
import type { AdoptedSets } from './adopted-rules.js';
import type { NftablesDesiredState } from './desired-state.js';

const MAPS = new Set(VARIANTS.map((variant) => setsOf(variant).frontends));

/** The UDP frontends that lead to endpoints. */
export function udpFrontends(sets: AdoptedSets): readonly FrontendAddress[] {
  return [...MAPS].flatMap(({ name }) =>
    [...(sets.get(name)?.elements.keys() ?? [])].filter(isUdp).map(frontendAddress),
  );
}

/** Those of UDP frontends that no longer lead to endpoints. */
export function lostUdpFrontends(
  frontends: readonly FrontendAddress[],
  desired: NftablesDesiredState,
): readonly FrontendAddress[] {
  const wanted = new Set<string>();
  desired.forEachElement(({ set, key }) => {
    if (MAPS.has(set) && isUdp(key)) wanted.add(frontendText(frontendAddress(key)));
  });
  return frontends.filter((frontend) => !wanted.has(frontendText(frontend)));
}

/** Keys are `10.96.0.10 . udp . 53`, or `udp . 30053` for a node port. */
function isUdp(key: string): boolean {
  return key.split(' . ').at(-2) === 'udp';
}

function frontendAddress(key: string): FrontendAddress {
  const [port, , address = NODE_PORT] = key.split(' . ').reverse();
  return { address, port: Number(port) };
}
