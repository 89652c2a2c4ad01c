import { addressBytes, addressLength, addressText, familyOf } from '../netlink/addresses.js';
import { Refusal, refuseUnlessZero, type Attributes } from '../netlink/attributes.js';
import { MessageBuilder } from '../netlink/message-builder.js';
import { AF, E, NLM_F } from '../netlink/numbers.js';
import {
  answerEach,
  dump,
  FaultyProtocol,
  tell,
  type DUMPING,
  type KernelSocket,
  type Multicast,
  type NetlinkProtocol,
  type Request,
} from '../netlink/requests.js';
import { IFF, type DeviceAddress, type Link, type LinkEvent, type Links } from './links.js';

/* Numbers of linux/rtnetlink.h, linux/if_link.h, linux/if_addr.h and linux/if_arp.h. */

export const RTM = {
  ...{ NEWLINK: 16, DELLINK: 17, GETLINK: 18, NEWADDR: 20, DELADDR: 21, GETADDR: 22 },
  GETROUTE: 26,
} as const;
/** RTNLGRP_… */
export const GROUP = { LINK: 1, IPV4_ADDRESS: 5, IPV6_ADDRESS: 9 } as const;
export const IFLA = { ADDRESS: 1, BROADCAST: 2, IFNAME: 3, MTU: 4, OPERSTATE: 16, LINKINFO: 18 } as const;
export const IFLA_INFO_KIND = 1;
export const IFA = { ADDRESS: 1, LOCAL: 2, LABEL: 3, FLAGS: 8 } as const;
const IFA_F = { TENTATIVE: 0x40, PERMANENT: 0x80 } as const;
/** IF_OPER_… */
const OPERSTATE = { UNKNOWN: 0, DOWN: 2, UP: 6 } as const;
const ARPHRD = { ETHER: 1, LOOPBACK: 772 } as const;
/** Longest name of a device, with its zero byte. */
const IFNAMSIZ = 16;
/** Bytes of struct ifinfomsg and struct ifaddrmsg. */
const [LINK_HEADER, ADDRESS_HEADER] = [16, 8];

/** Requests for what is there. */
const QUESTIONS: readonly number[] = [RTM.GETLINK, RTM.GETADDR, RTM.GETROUTE];

/** How the kernel explains refusals. */
const TEXTS = {
  [AF.INET]: {
    tooLong: 'ipv4: Invalid prefix length',
    missing: 'ipv4: Local address is not supplied',
    noDevice: 'ipv4: Device not found',
    notFound: 'ipv4: Address not found',
    exists: 'ipv4: Address already assigned',
  },
  [AF.INET6]: {
    tooLong: 'ipv6: Invalid prefix length',
    missing: undefined,
    noDevice: 'ipv6: Unable to find the interface',
    notFound: 'ipv6: address not found',
    exists: 'ipv6: address already assigned',
  },
} as const;

/** NETLINK_ROUTE: devices and addresses. No packet of a world leaves the node, so there are no routes. */
export class RouteProtocol extends FaultyProtocol implements NetlinkProtocol {
  /** Of devices that the kernel can make. */
  readonly kinds = new Set(['dummy', 'veth']);
  private readonly builder = new MessageBuilder();

  constructor(
    private readonly links: Links,
    private readonly multicast: Multicast,
  ) {
    super();
    links.onEvent = (event) => this.announce(event);
  }

  handle(socket: KernelSocket, bytes: Buffer): void {
    answerEach(socket, bytes, (request) => {
      this.meet(QUESTIONS.includes(request.type));
      return this.answer(socket, request);
    });
  }

  private answer(socket: KernelSocket, request: Request): typeof DUMPING | void {
    const { links } = this;
    const version = (): number => links.version;
    switch (request.type) {
      case RTM.GETLINK: {
        if (request.isDump)
          return dump(socket, request, { items: links.links(), put: putLink, type: RTM.NEWLINK, version });
        const found = this.linkOf(request);
        if (!found) throw new Refusal(E.ENODEV);
        return tell(socket, request, RTM.NEWLINK, (builder) => putLink(builder, found));
      }
      case RTM.NEWLINK:
        return this.make(socket, request);
      case RTM.DELLINK: {
        const found = this.linkOf(request);
        if (!found || found.kind === '') throw new Refusal(found ? E.EOPNOTSUPP : E.ENODEV);
        return refuseUnlessZero(links.removeLink(found.name, socket.process));
      }
      case RTM.GETADDR: {
        if (!request.isDump) throw new Refusal(E.EOPNOTSUPP);
        const items = addressesOf(links, request.payload[0] ?? AF.UNSPEC);
        return dump(socket, request, { items, put: putAddress, type: RTM.NEWADDR, version });
      }
      case RTM.NEWADDR:
      case RTM.DELADDR:
        return this.changeAddress(socket, request);
      default:
        throw new Refusal(request.type === RTM.GETROUTE ? E.ENETUNREACH : E.EOPNOTSUPP);
    }
  }

  /** The device that a request names by its index or its name. */
  private linkOf(request: Request): Link | undefined {
    const name = request.attributes(LINK_HEADER).text(IFLA.IFNAME);
    const index = request.payload.readInt32LE(4);
    if (name !== undefined && name.length >= IFNAMSIZ)
      throw new Refusal(E.ERANGE, undefined, 'Attribute failed policy validation');
    if (index < 0 || (index === 0 && name === undefined)) throw new Refusal(E.EINVAL);
    return this.links.link(index > 0 ? index : name!);
  }

  private make(socket: KernelSocket, request: Request): void {
    const { links } = this;
    const found = this.linkOf(request);
    if (found) {
      if (request.has(NLM_F.EXCL)) throw new Refusal(E.EEXIST);
      const [flags, change] = [request.payload.readUInt32LE(8), request.payload.readUInt32LE(12)];
      if ((change & IFF.UP) !== 0) links.setUp(found.name, (flags & IFF.UP) !== 0, socket.process);
      return;
    }
    if (!request.has(NLM_F.CREATE)) throw new Refusal(E.ENODEV);
    const attributes = request.attributes(LINK_HEADER);
    const kind = attributes.nested(IFLA.LINKINFO)?.text(IFLA_INFO_KIND) ?? '';
    if (!this.kinds.has(kind)) throw new Refusal(E.EOPNOTSUPP, undefined, 'Unknown device type');
    refuseUnlessZero(links.addLink({ name: attributes.text(IFLA.IFNAME)!, kind }, socket.process));
  }

  private changeAddress(socket: KernelSocket, request: Request): void {
    const { links } = this;
    const { payload, type } = request;
    const attributes = request.attributes(ADDRESS_HEADER);
    const [family = 0, prefixLength = 0, , scope = 0] = payload;
    if (family !== AF.INET && family !== AF.INET6) throw new Refusal(E.EOPNOTSUPP);
    const texts = TEXTS[family];
    const refuse = (errno: number, text?: string): never => {
      throw new Refusal(errno, undefined, text);
    };
    if (prefixLength > addressLength(family) * 8 && type === RTM.NEWADDR) refuse(E.EINVAL, texts.tooLong);
    const address = readAddress(attributes, family) ?? refuse(E.EINVAL, texts.missing);
    const { name } = links.link(payload.readUInt32LE(4)) ?? refuse(E.ENODEV, texts.noDevice);
    if (type === RTM.DELADDR) {
      const errno = links.removeAddress(name, address, prefixLength, socket.process);
      return refuseUnlessZero(errno, errno === E.EADDRNOTAVAIL ? texts.notFound : undefined);
    }
    const given = family === AF.INET ? { scope } : {};
    const errno = links.addAddress(name, address, prefixLength, given, socket.process);
    if (errno === E.EEXIST && request.has(NLM_F.REPLACE) && !request.has(NLM_F.EXCL)) return;
    refuseUnlessZero(errno, errno === E.EEXIST ? texts.exists : undefined);
  }

  private announce(event: LinkEvent): void {
    const spread = (group: number, type: number, put: (builder: MessageBuilder) => void): void => {
      put(this.builder.begin(type, 0, 0, 0));
      this.multicast(group, this.builder.end().take());
    };
    if ('link' in event) {
      const type = event.kind === 'link' ? RTM.NEWLINK : RTM.DELLINK;
      return spread(GROUP.LINK, type, (builder) => putLink(builder, event.link, event.change));
    }
    const { address } = event;
    const isIPv4 = familyOf(address.address) === AF.INET;
    const group = isIPv4 ? GROUP.IPV4_ADDRESS : GROUP.IPV6_ADDRESS;
    if (event.kind === 'address gone')
      return spread(group, RTM.DELADDR, (builder) => putAddress(builder, address));
    // An address of IPv6 is told once more when it turns out that nobody else has it.
    const first = isIPv4 ? IFA_F.PERMANENT : IFA_F.PERMANENT | IFA_F.TENTATIVE;
    spread(group, RTM.NEWADDR, (builder) => putAddress(builder, address, first));
    if (flagsOf(address) !== first) spread(group, RTM.NEWADDR, (builder) => putAddress(builder, address));
  }
}

/** Of IPv6, those that reach farther come first, and the newest of these. */
function* addressesOf(links: Links, family: number): Generator<DeviceAddress> {
  for (const each of family === AF.UNSPEC ? [AF.INET, AF.INET6] : [family])
    for (const { name } of links.links()) {
      const found = [...links.addresses(name)].filter(({ address }) => familyOf(address) === each);
      if (each === AF.INET6) found.reverse().sort((one, other) => one.scope - other.scope);
      yield* found;
    }
}

/** Undefined where there is none, or one of another family. */
function readAddress(attributes: Attributes, family: number): string | undefined {
  const own =
    attributes.value(IFA.LOCAL) ?? (family === AF.INET6 ? attributes.value(IFA.ADDRESS) : undefined);
  return own?.length === addressLength(family) ? addressText(own) : undefined;
}

/** struct ifinfomsg and what follows it. */
function putLink(builder: MessageBuilder, { index, name, kind, flags }: Link, change = 0): void {
  const isLoopback = (flags & IFF.LOOPBACK) !== 0;
  const state = isLoopback || kind === 'dummy' ? OPERSTATE.UNKNOWN : OPERSTATE.UP;
  const header = Buffer.alloc(LINK_HEADER);
  header.writeUInt16LE(isLoopback ? ARPHRD.LOOPBACK : ARPHRD.ETHER, 2);
  header.writeInt32LE(index, 4);
  header.writeUInt32LE(flags, 8);
  header.writeUInt32LE(change >>> 0, 12);
  builder
    .raw(header)
    .text(IFLA.IFNAME, name)
    .u8(IFLA.OPERSTATE, (flags & IFF.UP) === 0 ? OPERSTATE.DOWN : state)
    .u32(IFLA.MTU, isLoopback ? 65_536 : 1_500)
    .attribute(IFLA.ADDRESS, isLoopback ? Buffer.alloc(6) : Buffer.of(2, 0, 0, 0, index >>> 8, index & 0xff))
    .attribute(IFLA.BROADCAST, Buffer.alloc(6, isLoopback ? 0 : 0xff));
  if (kind !== '') builder.plainNest(IFLA.LINKINFO, () => builder.text(IFLA_INFO_KIND, kind));
}

/** An address of IPv6 waits until its device is up, unless nobody else can have it there. */
function flagsOf({ device, address }: DeviceAddress): number {
  const isSettled =
    familyOf(address) === AF.INET || (device.flags & (IFF.UP | IFF.NOARP | IFF.LOOPBACK)) !== 0;
  return isSettled ? IFA_F.PERMANENT : IFA_F.PERMANENT | IFA_F.TENTATIVE;
}

/** struct ifaddrmsg and what follows it. */
function putAddress(builder: MessageBuilder, item: DeviceAddress, flags = flagsOf(item)): void {
  const { device, address, prefixLength, scope } = item;
  const [family, bytes] = [familyOf(address), addressBytes(address)];
  const header = Buffer.of(family, prefixLength, flags, scope, 0, 0, 0, 0);
  header.writeUInt32LE(device.index, 4);
  builder.raw(header).attribute(IFA.ADDRESS, bytes);
  if (family === AF.INET) builder.attribute(IFA.LOCAL, bytes).text(IFA.LABEL, device.name);
  builder.u32(IFA.FLAGS, flags);
}
