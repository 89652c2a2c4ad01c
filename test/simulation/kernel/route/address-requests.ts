import type { KernelSocket } from '../netlink-protocol.js';
import { addressText, familyOf } from '../netlink/addresses.js';
import { attributesIn, type Attributes } from '../netlink/attributes.js';
import { dump } from '../netlink/dump.js';
import {
  AF_INET,
  AF_INET6,
  AF_UNSPEC,
  EADDRNOTAVAIL,
  EEXIST,
  EINVAL,
  ENODEV,
  EOPNOTSUPP,
  NLM_F_EXCL,
  NLM_F_REPLACE,
} from '../netlink/numbers.js';
import { outcomeOf, refuse, type Outcome, type Request } from '../netlink/requests.js';
import type { DeviceAddress } from './link.js';
import type { Links } from './links.js';
import { putAddress } from './route-messages.js';
import { IFA, RTM } from './rtnetlink.js';

/** Bytes of struct ifaddrmsg. */
const HEADER = 8;

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

/** Requests about the addresses of devices. */
export class AddressRequests {
  constructor(private readonly links: Links) {}

  list(socket: KernelSocket, request: Request): Outcome {
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

  change(socket: KernelSocket, request: Request): Outcome {
    const { payload, type, flags } = request;
    if (payload.length < HEADER) return refuse(EINVAL);
    const family = payload[0]!;
    if (family !== AF_INET && family !== AF_INET6) return refuse(EOPNOTSUPP);
    const attributes = attributesIn(payload.subarray(HEADER));
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
}

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
