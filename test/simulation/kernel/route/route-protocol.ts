import type { KernelSocket, Multicast, NetlinkProtocol } from '../netlink-protocol.js';
import { familyOf } from '../netlink/addresses.js';
import { MessageBuilder } from '../netlink/message-builder.js';
import { AF_INET, EOPNOTSUPP, EPERM } from '../netlink/numbers.js';
import { Refusals } from '../netlink/refusals.js';
import { answerEach, asksForAll, refuse, type Outcome, type Request } from '../netlink/requests.js';
import { AddressRequests } from './address-requests.js';
import { LinkRequests } from './link-requests.js';
import type { LinkEvent, Links } from './links.js';
import { flagsOf, putAddress, putLink } from './route-messages.js';
import { RouteRequests } from './route-requests.js';
import type { Routes } from './routes.js';
import { GROUP, IFA_F, RTM } from './rtnetlink.js';

/** Requests for what is there; everything else needs CAP_NET_ADMIN. */
const QUESTIONS: ReadonlySet<number> = new Set([RTM.GETLINK, RTM.GETADDR, RTM.GETROUTE, RTM.GETNEIGH]);

export interface RouteOptions {
  /** Kinds of devices that the kernel can make. */
  readonly kinds?: ReadonlySet<string>;
  /** Whether a process has CAP_NET_ADMIN. */
  readonly isPermitted?: (process: number) => boolean;
}

/** NETLINK_ROUTE: devices, addresses, routes and neighbours. */
export class RouteProtocol implements NetlinkProtocol {
  /** Changed when a module is loaded. */
  readonly kinds: Set<string>;
  private readonly aboutLinks: LinkRequests;
  private readonly aboutAddresses: AddressRequests;
  private readonly aboutRoutes: RouteRequests;
  private readonly builder = new MessageBuilder();
  private readonly changes = new Refusals();
  private readonly questions = new Refusals();
  private readonly isPermitted: (process: number) => boolean;

  constructor(
    links: Links,
    routes: Routes,
    private readonly multicast: Multicast,
    { kinds = new Set(['dummy', 'veth']), isPermitted = () => true }: RouteOptions = {},
  ) {
    this.kinds = new Set(kinds);
    this.isPermitted = isPermitted;
    this.aboutLinks = new LinkRequests(links, this.kinds);
    this.aboutAddresses = new AddressRequests(links);
    this.aboutRoutes = new RouteRequests(links, routes);
    links.onEvent = (event) => this.announce(event);
  }

  /** The next requests that change something are refused. */
  refuseNext(errno: number, count = 1): void {
    this.changes.add(errno, count);
  }

  /** The next questions and listings are refused. */
  refuseQuestions(errno: number, count = 1): void {
    this.questions.add(errno, count);
  }

  /** Nothing is refused any more without a reason. */
  endTrouble(): void {
    this.changes.clear();
    this.questions.clear();
  }

  handle(socket: KernelSocket, bytes: Buffer): number {
    return answerEach(socket, bytes, (request) => this.answer(socket, request));
  }

  private answer(socket: KernelSocket, request: Request): Outcome {
    const isQuestion = QUESTIONS.has(request.type);
    if (!isQuestion && !this.isPermitted(socket.process)) return refuse(EPERM);
    const refusal = (isQuestion ? this.questions : this.changes).next();
    if (refusal) return refusal;
    switch (request.type) {
      case RTM.GETLINK:
        return asksForAll(request)
          ? this.aboutLinks.list(socket, request)
          : this.aboutLinks.find(socket, request);
      case RTM.NEWLINK:
        return this.aboutLinks.make(socket, request);
      case RTM.DELLINK:
        return this.aboutLinks.remove(socket, request);
      case RTM.GETADDR:
        return asksForAll(request) ? this.aboutAddresses.list(socket, request) : refuse(EOPNOTSUPP);
      case RTM.NEWADDR:
      case RTM.DELADDR:
        return this.aboutAddresses.change(socket, request);
      case RTM.GETROUTE:
        return this.aboutRoutes.route(socket, request);
      case RTM.GETNEIGH:
        return this.aboutRoutes.neighbour(socket, request);
      default:
        return refuse(EOPNOTSUPP);
    }
  }

  private announce(event: LinkEvent): void {
    const { builder } = this;
    if ('link' in event) {
      const type = event.kind === 'link' ? RTM.NEWLINK : RTM.DELLINK;
      return this.spread(GROUP.LINK, type, () => putLink(builder, event.link, event.change));
    }
    const { address } = event;
    const isIPv4 = familyOf(address.address) === AF_INET;
    const group = isIPv4 ? GROUP.IPV4_ADDRESS : GROUP.IPV6_ADDRESS;
    if (event.kind === 'address gone')
      return this.spread(group, RTM.DELADDR, () => putAddress(builder, address));
    // An address of IPv6 is told once more when it turns out that nobody else has it.
    const first = isIPv4 ? IFA_F.PERMANENT : IFA_F.PERMANENT | IFA_F.TENTATIVE;
    this.spread(group, RTM.NEWADDR, () => putAddress(builder, address, first));
    if (flagsOf(address) !== first) this.spread(group, RTM.NEWADDR, () => putAddress(builder, address));
  }

  private spread(group: number, type: number, put: () => void): void {
    this.builder.begin(type, 0, 0, 0);
    put();
    this.multicast(group, this.builder.end().take());
  }
}
