import type { KernelSocket, Multicast, NetlinkProtocol } from '../netlink-protocol.js';
import { addressText, familyOf } from '../netlink/addresses.js';
import { attributesIn, attributesWithin, textOf, type Attributes } from '../netlink/attributes.js';
import { dump } from '../netlink/dump.js';
import { MessageBuilder } from '../netlink/message-builder.js';
import {
  AF_INET,
  AF_INET6,
  AF_UNSPEC,
  EADDRNOTAVAIL,
  EEXIST,
  EINVAL,
  ENODEV,
  ENOENT,
  EOPNOTSUPP,
  EPERM,
  ERANGE,
  NLM_F_CREATE,
  NLM_F_EXCL,
  NLM_F_REPLACE,
} from '../netlink/numbers.js';
import { Refusals } from '../netlink/refusals.js';
import { answerEach, asksForAll, refuse, type Outcome, type Request } from '../netlink/requests.js';
import type { DeviceAddress, Link } from './link.js';
import type { LinkEvent, Links } from './links.js';
import { flagsOf, putAddress, putLink, putNeighbour, putRoute } from './route-messages.js';
import type { Routes } from './routes.js';
import { GROUP, IFA, IFA_F, IFF, IFLA, IFLA_INFO_KIND, IFNAMSIZ, NDA_DST, RTA, RTM } from './rtnetlink.js';

/** Bytes of the headers after that of netlink. */
const LENGTH = { LINK: 16, ADDRESS: 8, ROUTE: 12, NEIGHBOUR: 12 } as const;
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
  private readonly builder = new MessageBuilder();
  private readonly changes = new Refusals();
  private readonly questions = new Refusals();
  private readonly isPermitted: (process: number) => boolean;

  constructor(
    private readonly links: Links,
    private readonly routes: Routes,
    private readonly multicast: Multicast,
    { kinds = new Set(['dummy', 'veth']), isPermitted = () => true }: RouteOptions = {},
  ) {
    this.kinds = new Set(kinds);
    this.isPermitted = isPermitted;
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
        return asksForAll(request) ? this.listLinks(socket, request) : this.tellLink(socket, request);
      case RTM.NEWLINK:
        return this.makeLink(socket, request);
      case RTM.DELLINK:
        return this.removeLink(socket, request);
      case RTM.GETADDR:
        return asksForAll(request) ? this.listAddresses(socket, request) : refuse(EOPNOTSUPP);
      case RTM.NEWADDR:
      case RTM.DELADDR:
        return this.changeAddress(socket, request);
      case RTM.GETROUTE:
        return this.tellRoute(socket, request);
      case RTM.GETNEIGH:
        return this.tellNeighbour(socket, request);
      default:
        return refuse(EOPNOTSUPP);
    }
  }

  private listLinks(socket: KernelSocket, request: Request): Outcome {
    const left = this.links.links();
    const next = (): Link | undefined => left.next().value;
    return dump(socket, request, {
      next,
      put: putLink,
      type: RTM.NEWLINK,
      version: () => this.links.version,
    });
  }

  private tellLink(socket: KernelSocket, request: Request): Outcome {
    const found = this.linkOf(request);
    if ('errno' in found) return found;
    this.tell(socket, request, RTM.NEWLINK, (builder) => putLink(builder, found));
    return undefined;
  }

  private makeLink(socket: KernelSocket, request: Request): Outcome {
    const found = this.linkOf(request);
    if (!('errno' in found)) {
      if ((request.flags & NLM_F_EXCL) !== 0) return refuse(EEXIST);
      const change = request.payload.readUInt32LE(12);
      if ((change & IFF.UP) !== 0)
        this.links.setUp(found.name, (request.payload.readUInt32LE(8) & IFF.UP) !== 0, socket.process);
      return undefined;
    }
    if (found.errno !== ENODEV || (request.flags & NLM_F_CREATE) === 0) return found;
    const attributes = attributesIn(request.payload.subarray(LENGTH.LINK))!;
    const info = attributesWithin(attributes, IFLA.LINKINFO);
    const kind = info?.get(IFLA_INFO_KIND);
    if (!kind || !this.kinds.has(textOf(kind))) return refuse(EOPNOTSUPP, 'Unknown device type');
    const name = attributes.get(IFLA.IFNAME);
    const added = { name: name ? textOf(name) : `${textOf(kind)}0`, kind: textOf(kind) };
    return outcomeOf(this.links.addLink(added, socket.process));
  }

  private removeLink(socket: KernelSocket, request: Request): Outcome {
    const found = this.linkOf(request);
    if ('errno' in found) return found;
    if (found.kind === '') return refuse(EOPNOTSUPP);
    return outcomeOf(this.links.removeLink(found.name, socket.process));
  }

  /** The device that a request names by its index or its name. */
  private linkOf({ payload }: Request): Link | NonNullable<ReturnType<typeof refuse>> {
    if (payload.length < LENGTH.LINK) return refuse(EINVAL);
    const attributes = attributesIn(payload.subarray(LENGTH.LINK));
    const index = payload.readInt32LE(4);
    const name = attributes?.get(IFLA.IFNAME);
    if (!attributes) return refuse(EINVAL);
    if (name && textOf(name).length >= IFNAMSIZ) return refuse(ERANGE, 'Attribute failed policy validation');
    if (index < 0 || (index === 0 && !name)) return refuse(EINVAL);
    return this.links.link(index > 0 ? index : textOf(name!)) ?? refuse(ENODEV);
  }

  private listAddresses(socket: KernelSocket, request: Request): Outcome {
    const family = request.payload[0] ?? AF_UNSPEC;
    const left = addressesOf(this.links, family === AF_UNSPEC ? [AF_INET, AF_INET6] : [family]);
    const next = (): DeviceAddress | undefined => left.next().value ?? undefined;
    return dump(socket, request, {
      next,
      put: putAddress,
      type: RTM.NEWADDR,
      version: () => this.links.version,
    });
  }

  private changeAddress(socket: KernelSocket, request: Request): Outcome {
    const { payload, type, flags } = request;
    if (payload.length < LENGTH.ADDRESS) return refuse(EINVAL);
    const family = payload[0]!;
    if (family !== AF_INET && family !== AF_INET6) return refuse(EOPNOTSUPP);
    const attributes = attributesIn(payload.subarray(LENGTH.ADDRESS));
    const address = attributes && readAddress(attributes, family);
    const prefixLength = payload[1]!;
    const texts = TEXTS[family];
    if (prefixLength > (family === AF_INET ? 32 : 128) && type === RTM.NEWADDR)
      return refuse(EINVAL, texts.tooLong);
    if (!address) return refuse(EINVAL, texts.missing);
    const link = this.links.link(payload.readUInt32LE(4));
    if (!link) return refuse(ENODEV, texts.noDevice);
    const { links } = this;
    const { local, peer } = address;
    if (type === RTM.DELADDR) {
      const errno = links.removeAddress(link.name, local, prefixLength, socket.process);
      return outcomeOf(errno, errno === EADDRNOTAVAIL ? texts.notFound : undefined);
    }
    const scope = family === AF_INET ? { scope: payload[3]! } : {};
    const errno = links.addAddress(link.name, local, prefixLength, { peer, ...scope }, socket.process);
    const isReplaced = errno === EEXIST && (flags & NLM_F_REPLACE) !== 0 && (flags & NLM_F_EXCL) === 0;
    return isReplaced ? undefined : outcomeOf(errno, errno === EEXIST ? texts.exists : undefined);
  }

  private tellRoute(socket: KernelSocket, request: Request): Outcome {
    const { payload } = request;
    const destination = attributesIn(payload.subarray(LENGTH.ROUTE))?.get(RTA.DST);
    if (asksForAll(request)) return refuse(EOPNOTSUPP);
    const size = payload[0] === AF_INET6 ? 16 : 4;
    if (!destination || destination.length < size) return refuse(EINVAL);
    const address = addressText(destination.subarray(0, size));
    const route = this.routes.to(address);
    if (typeof route === 'number') return refuse(route);
    this.tell(socket, request, RTM.NEWROUTE, (builder) => putRoute(builder, address, route));
    return undefined;
  }

  private tellNeighbour(socket: KernelSocket, request: Request): Outcome {
    const { payload } = request;
    if (asksForAll(request)) return refuse(EOPNOTSUPP);
    const destination = attributesIn(payload.subarray(LENGTH.NEIGHBOUR))?.get(NDA_DST);
    if (!destination) return refuse(EINVAL);
    const link = this.links.link(payload.readInt32LE(4));
    if (!link) return refuse(ENODEV, 'Unknown device ifindex');
    const address = addressText(destination);
    const state = this.routes.neighbour(link.name, address);
    if (state === undefined) return refuse(ENOENT, 'Neighbour entry not found');
    this.tell(socket, request, RTM.NEWNEIGH, (builder) => putNeighbour(builder, link.index, address, state));
    return undefined;
  }

  private tell(
    socket: KernelSocket,
    { sequence }: Request,
    type: number,
    put: (builder: MessageBuilder) => void,
  ): void {
    this.builder.begin(type, 0, sequence, socket.port);
    put(this.builder);
    socket.deliver(this.builder.end().take());
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

/** How the kernel explains refusals. */
const TEXTS = {
  [AF_INET]: {
    tooLong: 'ipv4: Invalid prefix length',
    missing: 'ipv4: Local address is not supplied',
    noDevice: 'ipv4: Device not found',
    notFound: 'ipv4: Address not found',
    exists: 'ipv4: Address already assigned',
  },
  [AF_INET6]: {
    tooLong: 'ipv6: Invalid prefix length',
    missing: undefined,
    noDevice: 'ipv6: Unable to find the interface',
    notFound: 'ipv6: address not found',
    exists: 'ipv6: address already assigned',
  },
} as const;

/** Of IPv6, those that reach farther come first, and the newest of these. */
function* addressesOf(links: Links, families: readonly number[]): Generator<DeviceAddress> {
  for (const family of families)
    for (const { name } of links.links()) {
      const found = [...links.addresses(name)].filter(({ address }) => familyOf(address) === family);
      if (family === AF_INET6) found.reverse().sort((one, other) => one.scope - other.scope);
      yield* found;
    }
}

/** Undefined where there is none, or one of another family. */
function readAddress(
  attributes: Attributes,
  family: number,
): { readonly local: string; readonly peer: string } | undefined {
  const size = family === AF_INET ? 4 : 16;
  const [address, local] = [attributes.get(IFA.ADDRESS), attributes.get(IFA.LOCAL)];
  const own = local ?? (family === AF_INET6 ? address : undefined);
  const peer = address ?? own;
  if (own?.length !== size || peer?.length !== size) return undefined;
  return { local: addressText(own), peer: addressText(peer) };
}

function outcomeOf(errno: number, explanation?: string): Outcome {
  return errno === 0 ? undefined : refuse(errno, explanation);
}
