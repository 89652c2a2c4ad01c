import { CTA } from '../../../src/adapters/conntrack/ctnetlink.js';
import { familyNumber } from '../../../src/adapters/netlink/protocol.js';
import { familyOf } from '../../../src/domain/net/ip-family.js';
import { MessageWriter } from '../../../src/adapters/netlink/message-writer.js';
import { putTcpState, putTuple } from './conntrack-entries.js';

/** A tracked connection as a message tells it; numbers of linux/netfilter/nfnetlink_conntrack.h. */
export interface ToldConnection {
  readonly type: number;
  readonly flags?: number;
  readonly sequence?: number;
  readonly protocol: number;
  readonly client: string;
  readonly clientPort: number;
  readonly destination: string;
  readonly destinationPort: number;
  readonly endpoint: string;
  readonly endpointPort: number;
  readonly status: number;
  readonly tcpState?: number;
  /** In each direction. */
  readonly bytes?: number;
  readonly id: number;
}

/** The message, its parts in the kernel's order. */
export function connectionMessage(told: ToldConnection): Buffer {
  const writer = new MessageWriter(512);
  const start = writer.beginMessage(told.type, told.flags ?? 0, told.sequence ?? 0);
  writer.putWord(familyNumber(familyOf(told.client)));
  const client = [told.client, told.clientPort] as const;
  putTuple(writer, CTA.TUPLE_ORIG, told.protocol, client, [told.destination, told.destinationPort]);
  putTuple(writer, CTA.TUPLE_REPLY, told.protocol, [told.endpoint, told.endpointPort], client);
  writer.putU32(CTA.ID, told.id);
  writer.putU32(CTA.STATUS, told.status);
  for (const counters of told.bytes === undefined ? [] : [CTA.COUNTERS_ORIG, CTA.COUNTERS_REPLY]) {
    const nest = writer.beginNest(counters);
    writer.putBytes(1, Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 9));
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(told.bytes!));
    writer.putBytes(2, bytes);
    writer.endNest(nest);
  }
  if (told.tcpState !== undefined) putTcpState(writer, told.tcpState);
  writer.endMessage(start);
  return Buffer.from(writer.bytes.subarray(0, writer.length));
}
