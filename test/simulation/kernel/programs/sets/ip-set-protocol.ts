import type { KernelSocket, NetlinkProtocol } from '../../netlink-protocol.js';
import { attributesIn, textOf } from '../../netlink/attributes.js';
import { EINVAL, ENOENT, EOPNOTSUPP } from '../../netlink/numbers.js';
import { answerEach, refuse, type Outcome, type Request } from '../../netlink/requests.js';
import { tell } from '../../netlink/tell.js';
import type { IpSets } from './ip-sets.js';

/** Of linux/netfilter/ipset/ip_set.h. */
const HEADER = (6 << 8) | 12;
const ATTRIBUTE = { PROTOCOL: 1, SET_NAME: 2, TYPE_NAME: 3, REVISION: 4, FAMILY: 5 } as const;
const PROTOCOL = 7;
const FAMILIES = { IPv4: 2, IPv6: 10, any: 0 } as const;

/** The subsystem ipset of nfnetlink, as far as anybody but the program `ipset` asks it: for a set of a name. */
export class IpSetProtocol implements NetlinkProtocol {
  constructor(private readonly sets: IpSets) {}

  handle(socket: KernelSocket, bytes: Buffer): number {
    return answerEach(socket, bytes, (request) => this.answer(socket, request));
  }

  private answer(socket: KernelSocket, request: Request): Outcome {
    if (request.type !== HEADER) return refuse(EOPNOTSUPP);
    const attributes = attributesIn(request.payload.subarray(4));
    const given = attributes?.get(ATTRIBUTE.SET_NAME);
    if (!given || !attributes?.has(ATTRIBUTE.PROTOCOL)) return refuse(EINVAL);
    const name = textOf(given);
    const set = this.sets.get(name);
    if (!set) return refuse(ENOENT);
    tell(socket, request, HEADER, (builder) => {
      builder.raw(Buffer.alloc(4)).u8(ATTRIBUTE.PROTOCOL, PROTOCOL).text(ATTRIBUTE.SET_NAME, name);
      builder.text(ATTRIBUTE.TYPE_NAME, set.type).u8(ATTRIBUTE.FAMILY, FAMILIES[set.family]);
      builder.u8(ATTRIBUTE.REVISION, 0);
    });
    return undefined;
  }
}
