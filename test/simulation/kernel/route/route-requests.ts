import type { KernelSocket } from '../netlink-protocol.js';
import { addressText } from '../netlink/addresses.js';
import { attributesIn } from '../netlink/attributes.js';
import { AF_INET6, EINVAL, ENODEV, ENOENT, EOPNOTSUPP } from '../netlink/numbers.js';
import { asksForAll, refuse, type Outcome, type Request } from '../netlink/requests.js';
import { tell } from '../netlink/tell.js';
import type { Links } from './links.js';
import { putNeighbour, putRoute } from './route-messages.js';
import type { Routes } from './routes.js';
import { NDA_DST, RTA, RTM } from './rtnetlink.js';

/** Bytes of struct rtmsg and struct ndmsg. */
const HEADER = 12;

/** Requests for the route to an address, and for a neighbour. */
export class RouteRequests {
  constructor(
    private readonly links: Links,
    private readonly routes: Routes,
  ) {}

  route(socket: KernelSocket, request: Request): Outcome {
    const { payload } = request;
    const destination = attributesIn(payload.subarray(HEADER))?.get(RTA.DST);
    if (asksForAll(request)) return refuse(EOPNOTSUPP);
    const size = payload[0] === AF_INET6 ? 16 : 4;
    if (!destination || destination.length < size) return refuse(EINVAL);
    const address = addressText(destination.subarray(0, size));
    const route = this.routes.to(address);
    if (typeof route === 'number') return refuse(route);
    tell(socket, request, RTM.NEWROUTE, (builder) => putRoute(builder, address, route));
    return undefined;
  }

  neighbour(socket: KernelSocket, request: Request): Outcome {
    const { payload } = request;
    if (asksForAll(request)) return refuse(EOPNOTSUPP);
    const destination = attributesIn(payload.subarray(HEADER))?.get(NDA_DST);
    if (!destination) return refuse(EINVAL);
    const link = this.links.link(payload.readInt32LE(4));
    if (!link) return refuse(ENODEV, 'Unknown device ifindex');
    const address = addressText(destination);
    const state = this.routes.neighbour(link.name, address);
    if (state === undefined) return refuse(ENOENT, 'Neighbour entry not found');
    tell(socket, request, RTM.NEWNEIGH, (builder) => putNeighbour(builder, link.index, address, state));
    return undefined;
  }
}
