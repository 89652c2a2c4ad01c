import type { Attributes } from '../netlink/attributes.js';
import { attributesWithin } from '../netlink/attributes.js';
import { familyOf } from '../netlink/addresses.js';
import { AF_INET, AF_UNSPEC, EINVAL } from '../netlink/numbers.js';
import { refuse, type Refusal } from '../netlink/requests.js';
import type { Connection } from './connection.js';
import { COMPARABLE, COMPARE, CTA, CTA_FILTER, IPPROTO } from './ctnetlink.js';
import { readTuple, type Tuple } from './tuple.js';

export type DumpFilter = (connection: Connection) => boolean;

/** Which connections a dump is asked for. Kernels before 5.8 know the family, the mark and the status alone. */
export function readDumpFilter(
  attributes: Attributes,
  family: number,
  knowsTuples: boolean,
): DumpFilter | Refusal {
  const filter =
    knowsTuples && attributes.has(CTA.FILTER) ? attributesWithin(attributes, CTA.FILTER) : undefined;
  if (knowsTuples && attributes.has(CTA.FILTER) && !filter) return refuse(EINVAL);
  const original = readPart(attributes, CTA.TUPLE_ORIG, family, filter?.get(CTA_FILTER.ORIG_FLAGS));
  const reply = readPart(attributes, CTA.TUPLE_REPLY, family, filter?.get(CTA_FILTER.REPLY_FLAGS));
  if ('errno' in original) return original;
  if ('errno' in reply) return reply;
  const mark = masked(attributes, CTA.MARK, CTA.MARK_MASK);
  const status = masked(attributes, CTA.STATUS, CTA.STATUS_MASK);
  return (connection) =>
    (family === AF_UNSPEC || familyOf(connection.original.source) === family) &&
    (!mark || (connection.mark & mark.mask) === mark.value) &&
    (!status || (connection.status & status.mask) === status.value) &&
    original.matches(connection.original) &&
    reply.matches(connection.reply);
}

interface PartFilter {
  readonly matches: (tuple: Tuple) => boolean;
}

function readPart(
  attributes: Attributes,
  type: number,
  family: number,
  flags: Buffer | undefined,
): PartFilter | Refusal {
  // Unlike most numbers of ctnetlink, this has the host's byte order.
  const parts = flags ? flags.readUInt32LE(0) : 0;
  if ((parts & ~COMPARABLE) !== 0) return refuse(EINVAL);
  if (parts === 0) return { matches: () => true };
  const wanted = readTuple(attributes, type, family, parts);
  return 'errno' in wanted ? wanted : { matches: (tuple) => matches(wanted, tuple, parts) };
}

function matches(wanted: Tuple, tuple: Tuple, parts: number): boolean {
  const asked = (part: number): boolean => (parts & part) !== 0;
  // The kernel compares IPv6 addresses the wrong way round: what is equal does not match.
  const differ = (one: string, other: string): boolean =>
    (one === other) !== (familyOf(tuple.source) === AF_INET);
  if (asked(COMPARE.SOURCE) && differ(wanted.source, tuple.source)) return false;
  if (asked(COMPARE.DESTINATION) && differ(wanted.destination, tuple.destination)) return false;
  if (asked(COMPARE.PROTOCOL) && wanted.protocol !== tuple.protocol) return false;
  if (tuple.protocol !== IPPROTO.TCP && tuple.protocol !== IPPROTO.UDP) return true;
  if (asked(COMPARE.SOURCE_PORT) && wanted.sourcePort !== tuple.sourcePort) return false;
  return !asked(COMPARE.DESTINATION_PORT) || wanted.destinationPort === tuple.destinationPort;
}

function masked(
  attributes: Attributes,
  type: number,
  maskType: number,
): { readonly value: number; readonly mask: number } | undefined {
  const value = attributes.get(type);
  if (!value) return undefined;
  const mask = attributes.get(maskType)?.readInt32BE(0) ?? (type === CTA.STATUS ? value.readInt32BE(0) : -1);
  return { value: value.readInt32BE(0) & mask, mask };
}
