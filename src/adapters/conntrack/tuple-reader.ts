import { AttributeReader } from '../netlink/attribute-reader.js';
import { TUPLE, TUPLE_IP, TUPLE_PROTO } from './ctnetlink.js';

/** Offsets of one side of a tuple in the buffer; -1 for parts that it lacks. */
export interface TupleSide {
  address: number;
  addressEnd: number;
  port: number;
}

/** Reads tuples, the addresses and ports of one direction of a tracked connection, and is itself the last one read. */
export class TupleReader {
  /** 0 if it lacks one. */
  protocol = 0;
  readonly source: TupleSide = { address: -1, addressEnd: -1, port: -1 };
  readonly destination: TupleSide = { address: -1, addressEnd: -1, port: -1 };
  private readonly parts = new AttributeReader(Buffer.alloc(0));
  private readonly part = new AttributeReader(Buffer.alloc(0));

  /** It has both addresses and both ports. */
  get complete(): boolean {
    const { source, destination } = this;
    return source.address >= 0 && destination.address >= 0 && source.port >= 0 && destination.port >= 0;
  }

  clear(): void {
    const { source, destination } = this;
    this.protocol = 0;
    source.address = source.port = destination.address = destination.port = -1;
  }

  read(bytes: Buffer, start: number, end: number): void {
    this.clear();
    const { source, destination } = this;
    const parts = this.parts.over(bytes, start, end);
    while (parts.next()) {
      const part = this.part.over(bytes, parts.start, parts.end);
      if (parts.type === TUPLE.IP)
        while (part.next()) {
          const isSource = part.type === TUPLE_IP.V4_SRC || part.type === TUPLE_IP.V6_SRC;
          const side = isSource ? source : destination;
          side.address = part.start;
          side.addressEnd = part.end;
        }
      else if (parts.type === TUPLE.PROTO)
        while (part.next()) {
          if (part.type === TUPLE_PROTO.NUM) this.protocol = part.number();
          else if (part.type === TUPLE_PROTO.SRC_PORT) source.port = part.start;
          else if (part.type === TUPLE_PROTO.DST_PORT) destination.port = part.start;
        }
    }
  }
}
