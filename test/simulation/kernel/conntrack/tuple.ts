import { addressBytes, addressText, familyOf } from '../netlink/addresses.js';
import { attributesWithin, type Attributes } from '../netlink/attributes.js';
import type { MessageBuilder } from '../netlink/message-builder.js';
import { AF_INET, AF_INET6, EINVAL, EOPNOTSUPP } from '../netlink/numbers.js';
import { refuse, type Refusal } from '../netlink/requests.js';
import { COMPARE, CTA_IP, CTA_PROTO, CTA_TUPLE, IPPROTO } from './ctnetlink.js';

/** One direction of a connection. Addresses are canonical. */
export interface Tuple {
  /** IPPROTO_… */
  readonly protocol: number;
  readonly source: string;
  readonly sourcePort: number;
  readonly destination: string;
  readonly destinationPort: number;
}

/** What tells tuples of a zone apart. */
export function tupleKey(tuple: Tuple, zone: number): string {
  const { protocol, source, sourcePort, destination, destinationPort } = tuple;
  return `${zone} ${protocol} ${source} ${sourcePort} ${destination} ${destinationPort}`;
}

export function putTuple(builder: MessageBuilder, type: number, tuple: Tuple): void {
  const { protocol, source, sourcePort, destination, destinationPort } = tuple;
  const isIPv6 = familyOf(source) === AF_INET6;
  builder.nest(type, () => {
    builder.nest(CTA_TUPLE.IP, () => {
      builder.attribute(isIPv6 ? CTA_IP.V6_SRC : CTA_IP.V4_SRC, addressBytes(source));
      builder.attribute(isIPv6 ? CTA_IP.V6_DST : CTA_IP.V4_DST, addressBytes(destination));
    });
    builder.nest(CTA_TUPLE.PROTO, () => {
      builder.u8(CTA_PROTO.NUM, protocol);
      builder.be16(CTA_PROTO.SRC_PORT, sourcePort).be16(CTA_PROTO.DST_PORT, destinationPort);
    });
  });
}

/** All parts of a tuple. */
const ALL_PARTS =
  COMPARE.SOURCE | COMPARE.DESTINATION | COMPARE.PROTOCOL | COMPARE.SOURCE_PORT | COMPARE.DESTINATION_PORT;

/**
 * The tuple in an attribute.
 * @param parts which ones it must have; others are empty
 */
export function readTuple(
  attributes: Attributes,
  type: number,
  family: number,
  parts = ALL_PARTS,
): Tuple | Refusal {
  const tuple = attributesWithin(attributes, type);
  if (!tuple) return refuse(EINVAL);
  if (family !== AF_INET && family !== AF_INET6) return refuse(EOPNOTSUPP);
  const addresses = readAddresses(tuple, family, parts);
  if ('errno' in addresses) return addresses;
  const ports = readPorts(tuple, parts);
  return 'errno' in ports ? ports : { ...addresses, ...ports };
}

function readAddresses(
  tuple: Attributes,
  family: number,
  parts: number,
): Pick<Tuple, 'source' | 'destination'> | Refusal {
  if ((parts & (COMPARE.SOURCE | COMPARE.DESTINATION)) === 0) return { source: '', destination: '' };
  const ip = attributesWithin(tuple, CTA_TUPLE.IP);
  const isIPv6 = family === AF_INET6;
  const size = isIPv6 ? 16 : 4;
  const read = (part: number, type: number): string | undefined => {
    if ((parts & part) === 0) return '';
    const bytes = ip?.get(type);
    return bytes && bytes.length >= size ? addressText(bytes.subarray(0, size)) : undefined;
  };
  const source = read(COMPARE.SOURCE, isIPv6 ? CTA_IP.V6_SRC : CTA_IP.V4_SRC);
  const destination = read(COMPARE.DESTINATION, isIPv6 ? CTA_IP.V6_DST : CTA_IP.V4_DST);
  return source === undefined || destination === undefined ? refuse(EINVAL) : { source, destination };
}

function readPorts(
  tuple: Attributes,
  parts: number,
): Pick<Tuple, 'protocol' | 'sourcePort' | 'destinationPort'> | Refusal {
  const ports = COMPARE.SOURCE_PORT | COMPARE.DESTINATION_PORT;
  if ((parts & COMPARE.PROTOCOL) === 0)
    return (parts & ports) === 0 ? { protocol: 0, sourcePort: 0, destinationPort: 0 } : refuse(EINVAL);
  const proto = attributesWithin(tuple, CTA_TUPLE.PROTO);
  const number = proto?.get(CTA_PROTO.NUM);
  if (!number || number.length < 1) return refuse(EINVAL);
  const protocol = number[0]!;
  const hasPorts = protocol === IPPROTO.TCP || protocol === IPPROTO.UDP || protocol === IPPROTO.SCTP;
  const read = (part: number, type: number): number | undefined => {
    if (!hasPorts || (parts & part) === 0) return 0;
    const bytes = proto?.get(type);
    return bytes && bytes.length >= 2 ? bytes.readUInt16BE(0) : undefined;
  };
  const sourcePort = read(COMPARE.SOURCE_PORT, CTA_PROTO.SRC_PORT);
  const destinationPort = read(COMPARE.DESTINATION_PORT, CTA_PROTO.DST_PORT);
  return sourcePort === undefined || destinationPort === undefined
    ? refuse(EINVAL)
    : { protocol, sourcePort, destinationPort };
}
