import type { IpFamily } from '../../../domain/net/ip-family.js';
import { PROTOCOL_NUMBERS } from '../../../domain/model/protocol-number.js';
import { ADDRESS_FACTOR, PORT_FACTOR } from '../../../domain/traffic/sample.js';
import {
  ATTRIBUTE,
  NESTED_ATTRIBUTE,
  WHOLE_MESSAGE,
  type FilterProgram,
} from '../../netlink/packet-filter.js';
import { familyNumber, NLM_F_CREATE } from '../../netlink/protocol.js';
import { CTA, CT_EVENT, PROTOINFO, PROTOINFO_TCP, STATUS_ASSURED, TCP_TIME_WAIT } from '../ctnetlink.js';

/**
 * Places in a message. The kernel writes the original tuple first, and its parts always in this order: family; source and
 * destination address; protocol; source and destination port.
 */
const KIND = 4;
const FLAGS_HIGH = 7;
const FAMILY = 16;
const ATTRIBUTES = 20;
const IPV4 = { client: 32, protocol: 52, clientPort: 60 } as const;
const IPV6 = { client: 44, protocol: 76, clientPort: 84 } as const;
/** From the start of an attribute to the last byte of its number. */
const LAST_BYTE_OF_WORD = 7;
const ONLY_BYTE = 4;

/**
 * The socket filter by which the kernel hands over only what counting needs, before it costs anything here: TCP, UDP and SCTP
 * connections of the sample (`flowHash`, `inSample`), and of their changes those before the kernel is sure that packets
 * flow both ways, among them the first answer, and those after both ends have closed.
 */
export function eventFilter(shift: number): FilterProgram {
  return [
    ['loadByte', FAMILY],
    ['ifEqual', familyNumber('IPv4'), 'IPv4', 'or IPv6'],
    'or IPv6',
    ['ifEqual', familyNumber('IPv6'), 'IPv6', 'drop'],
    ...wanted('IPv4', IPV4, shift),
    ...wanted('IPv6', IPV6, shift),
    'kind',
    ['loadByte', KIND],
    ['ifEqual', CT_EVENT.new & 0xff, 'begun or changed', 'pass'],
    'begun or changed',
    ['loadByte', FLAGS_HIGH],
    ['ifAnyBit', NLM_F_CREATE >>> 8, 'pass', 'changed'],
    'changed',
    ['setX', CTA.STATUS],
    ['set', ATTRIBUTES],
    ['loadWord', ATTRIBUTE],
    ['ifEqual', 0, 'pass', 'status'],
    'status',
    ['toX', 0],
    ['loadByteAtX', LAST_BYTE_OF_WORD],
    ['ifAnyBit', STATUS_ASSURED, 'sure', 'pass'],
    'sure',
    ['setX', CTA.PROTOINFO],
    ['set', ATTRIBUTES],
    ['loadWord', ATTRIBUTE],
    ['ifEqual', 0, 'drop', 'protocol'],
    'protocol',
    ['setX', PROTOINFO.TCP],
    ['loadWord', NESTED_ATTRIBUTE],
    ['ifEqual', 0, 'drop', 'tcp'],
    'tcp',
    ['setX', PROTOINFO_TCP.STATE],
    ['loadWord', NESTED_ATTRIBUTE],
    ['ifEqual', 0, 'drop', 'state'],
    'state',
    ['toX', 0],
    ['loadByteAtX', ONLY_BYTE],
    ['ifAtLeast', TCP_TIME_WAIT, 'pass', 'drop'],
    'pass',
    ['end', WHOLE_MESSAGE],
    'drop',
    ['end', 0],
  ];
}

type Places = typeof IPV4 | typeof IPV6;

function wanted(family: IpFamily, { protocol, client, clientPort }: Places, shift: number): FilterProgram {
  const next = `sample ${family}`;
  return [
    family,
    ['loadByte', protocol],
    ['ifEqual', PROTOCOL_NUMBERS.TCP, next, `${next} or UDP`],
    `${next} or UDP`,
    ['ifEqual', PROTOCOL_NUMBERS.UDP, next, `${next} or SCTP`],
    `${next} or SCTP`,
    ['ifEqual', PROTOCOL_NUMBERS.SCTP, next, 'drop'],
    next,
    ...(shift > 0 ? sampled(client, clientPort, shift) : [['ifAtLeast', 0, 'kind', 'kind'] as const]),
  ];
}

function sampled(client: number, clientPort: number, shift: number): FilterProgram {
  return [
    ['loadHalf', clientPort],
    ['multiply', PORT_FACTOR],
    ['toX', 0],
    ['loadWord', client],
    ['multiply', ADDRESS_FACTOR],
    ['xorX', 0],
    ['shiftRight', 32 - shift],
    ['ifEqual', 0, 'kind', 'drop'],
  ];
}
