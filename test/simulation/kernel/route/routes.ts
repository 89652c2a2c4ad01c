import { addressBytes, familyOf } from '../netlink/addresses.js';
import { EACCES, EHOSTUNREACH, EINVAL, ENETUNREACH } from '../netlink/numbers.js';
import type { Links } from './links.js';
import { isWithin } from './prefix.js';
import { IFF, NEIGHBOUR_STATE, type ROUTE_TYPE } from './rtnetlink.js';

export type RouteType = keyof typeof ROUTE_TYPE;

/** A route of the main table. */
export interface StaticRoute {
  /** `0.0.0.0/0` is the default one. */
  readonly destination: string;
  readonly type?: RouteType;
  readonly device?: string;
  readonly gateway?: string;
}

/** Where packets to an address go. */
export interface FoundRoute {
  readonly type: 'unicast' | 'local';
  /** The index of a device. */
  readonly device: number;
  /** The address that they leave with. */
  readonly source: string;
  readonly gateway?: string;
}

/** What routes that refuse packets say. */
const REFUSALS: Readonly<Partial<Record<RouteType, number>>> = {
  blackhole: EINVAL,
  unreachable: EHOSTUNREACH,
  prohibit: EACCES,
};

const LOOPBACK = 1;

/** Routes and neighbours. Those to the networks of addresses need not be added. */
export class Routes {
  private readonly statics: StaticRoute[] = [];
  private readonly neighbours = new Map<string, number>();

  constructor(private readonly links: Links) {}

  add(route: StaticRoute): void {
    this.statics.push(route);
  }

  remove(destination: string): void {
    const at = this.statics.findIndex((route) => route.destination === destination);
    if (at >= 0) this.statics.splice(at, 1);
  }

  list(): readonly StaticRoute[] {
    return this.statics;
  }

  setNeighbour(device: string, address: string, state: keyof typeof NEIGHBOUR_STATE | undefined): void {
    const key = `${device} ${address}`;
    if (state === undefined) this.neighbours.delete(key);
    else this.neighbours.set(key, NEIGHBOUR_STATE[state]);
  }

  /** NUD_…; undefined where there is no entry. */
  neighbour(device: string, address: string): number | undefined {
    return this.neighbours.get(`${device} ${address}`);
  }

  /** Where packets to an address go, or why they go nowhere (an errno). */
  to(address: string): FoundRoute | number {
    if (this.links.isLocal(address)) return { type: 'local', device: LOOPBACK, source: address };
    const bytes = addressBytes(address);
    const found = this.longestMatch(bytes);
    if (!found) return ENETUNREACH;
    const { type = 'unicast', gateway } = found;
    const refusal = REFUSALS[type];
    if (refusal !== undefined) return refusal;
    const device = this.deviceOf(found);
    const source = device === undefined ? undefined : this.sourceOf(device, gateway ?? address);
    if (device === undefined) return ENETUNREACH;
    const { index } = this.links.link(device)!;
    return {
      type: 'unicast',
      device: index,
      source: source ?? '',
      ...(gateway !== undefined && { gateway }),
    };
  }

  /** The name of the device that leads to an address without another gateway. */
  deviceTo(address: string): string | undefined {
    const found = this.longestMatch(addressBytes(address));
    return found?.gateway === undefined ? found?.device : undefined;
  }

  private longestMatch(address: Buffer): StaticRoute | undefined {
    let found: StaticRoute | undefined;
    let longest = -1;
    const consider = (route: StaticRoute, prefix: string, length: number): void => {
      if (length <= longest || !isWithin(address, addressBytes(prefix), length)) return;
      [found, longest] = [route, length];
    };
    for (const { device, peer, prefixLength } of this.links.addresses())
      if ((device.flags & IFF.UP) !== 0)
        consider({ destination: `${peer}/${prefixLength}`, device: device.name }, peer, prefixLength);
    for (const route of this.statics) {
      const [prefix = '', length = '0'] = route.destination.split('/');
      consider(route, prefix, Number(length));
    }
    return found;
  }

  /** The device that leads to the gateway, unless the route names one. */
  private deviceOf({ device, gateway }: StaticRoute): string | undefined {
    if (device !== undefined) return this.links.link(device) && device;
    return gateway === undefined ? undefined : this.deviceTo(gateway);
  }

  /** The address of the device that is in the same network, or its first one. */
  private sourceOf(device: string, other: string): string | undefined {
    const bytes = addressBytes(other);
    let first: string | undefined;
    for (const { address, prefixLength } of this.links.addresses(device)) {
      if (familyOf(address) !== familyOf(other)) continue;
      if (isWithin(bytes, addressBytes(address), prefixLength)) return address;
      first ??= address;
    }
    return first;
  }
}
