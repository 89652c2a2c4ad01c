/** Maps by frontend, and the places that they cover. */

import type { Frontend } from '../forwarding/forwarding-entry.js';
import { getOrMake } from '../model/maps.js';

/** In place of an address for a node port, which has none. */
export const NODE_PORT = '';

/** An address and port that clients of Services use; the address is NODE_PORT for a node port. */
export interface FrontendAddress {
  readonly address: string;
  readonly port: number;
}

/** The address of a frontend, in these terms. */
export function frontendAddress({
  address = NODE_PORT,
  port,
}: Pick<Frontend, 'address' | 'port'>): FrontendAddress {
  return { address, port };
}

/** Identifies a frontend. */
export function frontendText({ address, port }: FrontendAddress): string {
  return `${address} ${port}`;
}

/** A map by frontend, port first: flows to a port that no Service has are skipped by its number alone. */
export class FrontendMap<Value> {
  private readonly byPort = new Map<number, Map<string, Value>>();

  get empty(): boolean {
    return this.byPort.size === 0;
  }

  hasPort(port: number): boolean {
    return this.byPort.has(port);
  }

  get(port: number, address: string): Value | undefined {
    return this.byPort.get(port)?.get(address);
  }

  set({ address, port }: FrontendAddress, value: Value): void {
    getOrMake(this.byPort, port, () => new Map<string, Value>()).set(address, value);
  }

  delete({ address, port }: FrontendAddress): void {
    const addresses = this.byPort.get(port);
    if (addresses?.delete(address) && addresses.size === 0) this.byPort.delete(port);
  }

  *entries(): Iterable<[FrontendAddress, Value]> {
    for (const [port, addresses] of this.byPort)
      for (const [address, value] of addresses) yield [{ address, port }, value];
  }

  /** Each port with its addresses. */
  ports(): Iterable<[number, ReadonlyMap<string, Value>]> {
    return this.byPort.entries();
  }
}

/** The owners of each frontend: several may claim one. */
export class FrontendOwners<Owner> extends FrontendMap<readonly Owner[]> {
  own(frontend: FrontendAddress, owner: Owner): void {
    this.set(frontend, (this.get(frontend.port, frontend.address) ?? []).concat(owner));
  }

  disown(frontend: FrontendAddress, owner: Owner): void {
    const others = this.get(frontend.port, frontend.address)?.filter((other) => other !== owner) ?? [];
    if (others.length > 0) this.set(frontend, others);
    else this.delete(frontend);
  }
}

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
