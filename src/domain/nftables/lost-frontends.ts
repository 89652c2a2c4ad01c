import { NODE_PORT, type FrontendAddress } from '../conntrack/frontend-map.js';
import { VARIANTS } from './keys.js';
import type { PresentSets } from './present-fragments.js';
import { setsOf } from './sets.js';
import type { TableImage } from './table-image.js';

/** The UDP frontends for which the present table leads to endpoints and the image does not. */
export function lostUdpFrontends(present: PresentSets, image: TableImage): readonly FrontendAddress[] {
  return VARIANTS.flatMap((variant) => {
    const { frontends } = setsOf(variant);
    const wanted = new Set(image.sets.find(({ set }) => set === frontends)?.elements.map(({ key }) => key));
    const keys = [...(present.get(frontends.name)?.elements.keys() ?? [])];
    return keys.filter((key) => !wanted.has(key)).flatMap(udpFrontend);
  });
}

/** Of `10.96.0.10 . udp . 53`, or `udp . 30053` for a node port. */
function udpFrontend(key: string): FrontendAddress[] {
  const [port, protocol, address = NODE_PORT] = key.split(' . ').reverse();
  return protocol === 'udp' ? [{ address, port: Number(port) }] : [];
}
