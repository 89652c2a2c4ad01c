import type { KernelSocket } from '../netlink-protocol.js';
import { attributesIn, attributesWithin, textOf } from '../netlink/attributes.js';
import { dump } from '../netlink/dump.js';
import { EEXIST, EINVAL, ENODEV, EOPNOTSUPP, ERANGE, NLM_F_CREATE, NLM_F_EXCL } from '../netlink/numbers.js';
import { outcomeOf, refuse, type Outcome, type Refusal, type Request } from '../netlink/requests.js';
import { tell } from '../netlink/tell.js';
import type { Link } from './link.js';
import type { Links } from './links.js';
import { putLink } from './route-messages.js';
import { IFF, IFLA, IFLA_INFO_KIND, IFNAMSIZ, RTM } from './rtnetlink.js';

/** Bytes of struct ifinfomsg. */
const HEADER = 16;

/** Requests about devices. */
export class LinkRequests {
  /** @param kinds of devices that the kernel can make */
  constructor(
    private readonly links: Links,
    private readonly kinds: ReadonlySet<string>,
  ) {}

  list(socket: KernelSocket, request: Request): Outcome {
    const left = this.links.links();
    const next = (): Link | undefined => left.next().value;
    return dump(socket, request, {
      next,
      put: putLink,
      type: RTM.NEWLINK,
      version: () => this.links.version,
    });
  }

  find(socket: KernelSocket, request: Request): Outcome {
    const found = this.linkOf(request);
    if ('errno' in found) return found;
    tell(socket, request, RTM.NEWLINK, (builder) => putLink(builder, found));
    return undefined;
  }

  make(socket: KernelSocket, request: Request): Outcome {
    const found = this.linkOf(request);
    if (!('errno' in found)) {
      if ((request.flags & NLM_F_EXCL) !== 0) return refuse(EEXIST);
      const change = request.payload.readUInt32LE(12);
      if ((change & IFF.UP) !== 0)
        this.links.setUp(found.name, (request.payload.readUInt32LE(8) & IFF.UP) !== 0, socket.process);
      return undefined;
    }
    if (found.errno !== ENODEV || (request.flags & NLM_F_CREATE) === 0) return found;
    const attributes = attributesIn(request.payload.subarray(HEADER))!;
    const info = attributesWithin(attributes, IFLA.LINKINFO);
    const kind = info?.get(IFLA_INFO_KIND);
    if (!kind || !this.kinds.has(textOf(kind))) return refuse(EOPNOTSUPP, 'Unknown device type');
    const name = attributes.get(IFLA.IFNAME);
    const added = { name: name ? textOf(name) : `${textOf(kind)}0`, kind: textOf(kind) };
    return outcomeOf(this.links.addLink(added, socket.process));
  }

  remove(socket: KernelSocket, request: Request): Outcome {
    const found = this.linkOf(request);
    if ('errno' in found) return found;
    if (found.kind === '') return refuse(EOPNOTSUPP);
    return outcomeOf(this.links.removeLink(found.name, socket.process));
  }

  /** The device that a request names by its index or its name. */
  private linkOf({ payload }: Request): Link | Refusal {
    if (payload.length < HEADER) return refuse(EINVAL);
    const attributes = attributesIn(payload.subarray(HEADER));
    const index = payload.readInt32LE(4);
    const name = attributes?.get(IFLA.IFNAME);
    if (!attributes) return refuse(EINVAL);
    if (name && textOf(name).length >= IFNAMSIZ) return refuse(ERANGE, 'Attribute failed policy validation');
    if (index < 0 || (index === 0 && !name)) return refuse(EINVAL);
    return this.links.link(index > 0 ? index : textOf(name!)) ?? refuse(ENODEV);
  }
}
