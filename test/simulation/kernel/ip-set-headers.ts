import type { KernelSocket, NetlinkProtocol } from './netlink-protocol.js';
import { attributesIn, textOf } from './netlink/attributes.js';
import { AF_INET, AF_INET6, AF_UNSPEC, EINVAL, ENOENT } from './netlink/numbers.js';
import { answerEach, refuse, type Outcome, type Request } from './netlink/requests.js';
import { tell } from './netlink/tell.js';

/** Of linux/netfilter/ipset/ip_set.h. */
const HEADER = (6 << 8) | 12;
const ATTRIBUTE = { PROTOCOL: 1, SETNAME: 2, TYPENAME: 3, REVISION: 4, FAMILY: 5 } as const;
const PROTOCOL = { LEAST: 6, MOST: 7 } as const;
const IPSET_ERR_PROTOCOL = 4097;
const FAMILIES = { IPv4: AF_INET, IPv6: AF_INET6, any: AF_UNSPEC } as const;

/** What the kernel tells of a set without listing it. */
export interface IpSetHeader {
  /** Such as `hash:ip,port`. */
  readonly type: string;
  /** Of sets of ports any. */
  readonly family: 'IPv4' | 'IPv6' | 'any';
}

/** Of the subsystem ipset of nfnetlink, the question whether there is a set. The tool ipset is another part of the simulation. */
export class IpSetHeaders implements NetlinkProtocol {
  constructor(private readonly find: (name: string) => IpSetHeader | undefined) {}

  handle(socket: KernelSocket, bytes: Buffer): number {
    return answerEach(socket, bytes, (request) => this.answer(socket, request));
  }

  private answer(socket: KernelSocket, request: Request): Outcome {
    const { type, payload } = request;
    const attributes = attributesIn(payload.subarray(4));
    if (type !== HEADER || !attributes) return refuse(EINVAL);
    const protocol = attributes.get(ATTRIBUTE.PROTOCOL)?.[0] ?? 0;
    const given = attributes.get(ATTRIBUTE.SETNAME);
    if (protocol < PROTOCOL.LEAST || !given) return refuse(IPSET_ERR_PROTOCOL);
    const name = textOf(given);
    const set = this.find(name);
    if (!set) return refuse(ENOENT);
    const family = FAMILIES[set.family];
    tell(socket, request, HEADER, (builder) =>
      builder
        .raw(Buffer.of(AF_INET, 0, 0, 0))
        .u8(ATTRIBUTE.PROTOCOL, Math.min(protocol, PROTOCOL.MOST))
        .text(ATTRIBUTE.SETNAME, name)
        .text(ATTRIBUTE.TYPENAME, set.type)
        .u8(ATTRIBUTE.FAMILY, family)
        .u8(ATTRIBUTE.REVISION, 0),
    );
    return undefined;
  }
}
