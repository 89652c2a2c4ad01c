import { parseAddress } from '../../domain/net/address.js';
import { addressBits } from '../../domain/net/cidr.js';
import { familyOf, type IpFamily } from '../../domain/net/ip-family.js';
import { addressBytes, addressText } from '../netlink/address-bytes.js';
import { AttributeReader } from '../netlink/attribute-reader.js';
import { LIST_ATTEMPTS, NetlinkUnsteadyError } from '../netlink/errors.js';
import type { NetlinkMessage } from '../netlink/message-reader.js';
import type { NetlinkChannel } from '../netlink/netlink-channel.js';
import type { NetlinkConversation } from '../netlink/netlink-conversation.js';
import { succeeded, type NetlinkRequest } from '../netlink/netlink-request.js';
import { familyNumber, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL } from '../netlink/protocol.js';
import {
  ADDRESS_HEADER_LENGTH,
  AF_UNSPEC,
  IFA_ADDRESS,
  IFA_LOCAL,
  RTM_DELADDR,
  RTM_GETADDR,
  RTM_NEWADDR,
} from './rtnetlink.js';

/** An address on a device. */
export interface DeviceAddress {
  readonly device: number;
  readonly family: IpFamily;
  /** Canonical. */
  readonly address: string;
  /** Unique: a device may have an address several times, with different prefixes or peers. */
  readonly key: string;
}

/** All addresses of all devices of this network namespace, up or down; only of one family if it is given. */
export function listAddresses(channel: NetlinkChannel, family?: IpFamily): Promise<readonly DeviceAddress[]> {
  return channel.list(listingRequest(family), (message) => {
    const address = readAddress(message);
    return family === undefined || address?.family === family ? address : undefined;
  });
}

/** The addresses of all devices except one, synchronously. */
export function readAddressesNow(
  conversation: NetlinkConversation,
  except?: number,
): readonly DeviceAddress[] {
  const request = listingRequest();
  for (let count = 0; count < LIST_ATTEMPTS; count++) {
    const found: DeviceAddress[] = [];
    const reply = conversation.exchangeNow(request, NLM_F_DUMP, (message) => {
      const address = deviceOf(message) === except ? undefined : readAddress(message);
      if (address) found.push(address);
    });
    if (succeeded(request, reply) && !reply.interrupted) return found;
  }
  throw new NetlinkUnsteadyError(request.attempt);
}

/** The address in a message or notification. */
export function readAddress({ bytes, start, end }: NetlinkMessage): DeviceAddress | undefined {
  const attributes = new AttributeReader(bytes, start + ADDRESS_HEADER_LENGTH, end);
  let local: string | undefined;
  let other: string | undefined;
  while (attributes.next()) {
    if (attributes.type === IFA_LOCAL) local = addressText(bytes, attributes.start, attributes.end);
    else if (attributes.type === IFA_ADDRESS) other = addressText(bytes, attributes.start, attributes.end);
  }
  // On a point-to-point link the other one is the address of the peer.
  const address = parseAddress(local ?? other);
  if (!address) return undefined;
  const device = deviceOf({ bytes, start });
  const { family, text } = address;
  return { device, family, address: text, key: `${device} ${text}/${bytes[start + 1]} ${other}` };
}

/** The index of the device in a message or notification about an address. */
export function deviceOf({ bytes, start }: Pick<NetlinkMessage, 'bytes' | 'start'>): number {
  return bytes.readInt32LE(start + 4);
}

function listingRequest(family?: IpFamily): NetlinkRequest {
  return {
    type: RTM_GETADDR,
    attempt: 'listing the addresses of this node',
    put: (writer) => {
      writer.putWord(family === undefined ? AF_UNSPEC : familyNumber(family));
      writer.putWord(0);
    },
  };
}

/** Adds an address to a device, with its full length as the prefix, so without neighbors; or removes such an address. */
export function addressRequest(
  kind: 'add' | 'remove',
  device: number,
  address: string,
  attempt: string,
): NetlinkRequest {
  const family = familyOf(address);
  return {
    ...(kind === 'add' ? { type: RTM_NEWADDR, flags: NLM_F_CREATE | NLM_F_EXCL } : { type: RTM_DELADDR }),
    attempt,
    put: (writer) => {
      writer.putWord(familyNumber(family) | (addressBits(family) << 8));
      writer.putWord(device);
      writer.putBytes(IFA_LOCAL, addressBytes(address));
      writer.putBytes(IFA_ADDRESS, addressBytes(address));
    },
  };
}
