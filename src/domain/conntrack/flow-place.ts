import { NODE_PORT, type FrontendMap } from './frontend-map.js';

/** An end of flows. A missing part matches everything. */
export interface FlowPlace {
  readonly address?: string;
  readonly port?: number;
}

/** For each place the kernel searches its whole table. With more places, one walk over all flows of the protocol is cheaper. */
const MOST_PLACES = 4;

/** As few places as there can be that have all these addresses and ports. */
export function placesOf(addresses: FrontendMap<unknown>): readonly FlowPlace[] {
  const places = [...addresses.ports()].map(([port, ofPort]): FlowPlace => {
    const [address = NODE_PORT] = ofPort.keys();
    return ofPort.size > 1 || address === NODE_PORT ? { port } : { port, address };
  });
  return places.length > MOST_PLACES ? [{}] : places;
}
