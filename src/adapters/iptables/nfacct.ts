import { constants } from 'node:os';
import { AttributeReader } from '../netlink/attribute-reader.js';
import { NetlinkRequestError } from '../netlink/errors.js';
import { MessageWriter } from '../netlink/message-writer.js';
import { NetlinkSocket } from '../netlink/netlink-socket.js';
import { NETLINK_NETFILTER, NLM_F_ACK, NLM_F_CREATE, NLM_F_REQUEST } from '../netlink/protocol.js';

/** linux/netfilter/nfnetlink_acct.h */
const NEW = 7 << 8;
const GET = (7 << 8) | 1;
const ATTRIBUTE = { NAME: 1, PACKETS: 2, BYTES: 3 } as const;
const FAMILY_WORD = 16;
const { EBUSY, ENOENT } = constants.errno;

/**
 * Named counters of the kernel that rules may add to (spec/iptables.md §15). They belong to the network namespace, and
 * stay when the process ends.
 */
export class Nfacct {
  private readonly writer = new MessageWriter(256);
  private sequence = 0;

  private constructor(private readonly socket: NetlinkSocket) {}

  /** Throws a NetlinkError where there is no netlink; whether the kernel has counters shows when one is asked for. */
  static open(): Nfacct {
    return new Nfacct(NetlinkSocket.open(NETLINK_NETFILTER));
  }

  /** Makes the counter unless it is there. Rejects with NetlinkRequestError where the kernel has none. */
  async ensure(name: string): Promise<void> {
    if ((await this.packets(name)) !== undefined) return;
    const errno = await this.ask(NEW, NLM_F_CREATE | NLM_F_ACK, name, (writer) => {
      writer.putBytes(ATTRIBUTE.PACKETS, Buffer.alloc(8));
      writer.putBytes(ATTRIBUTE.BYTES, Buffer.alloc(8));
    });
    if (errno !== 0 && errno !== EBUSY) throw new NetlinkRequestError(`making the counter ${name}`, errno);
  }

  /** How many packets were counted; undefined when there is no such counter. */
  async packets(name: string): Promise<number | undefined> {
    let packets = 0;
    const errno = await this.ask(GET, 0, name, undefined, (attributes) => {
      while (attributes.next()) if (attributes.type === ATTRIBUTE.PACKETS) packets = attributes.number();
    });
    if (errno === ENOENT) return undefined;
    if (errno !== 0) throw new NetlinkRequestError(`reading the counter ${name}`, errno);
    return packets;
  }

  /** Idempotent. */
  close(): void {
    this.socket.close();
  }

  private async ask(
    type: number,
    flags: number,
    name: string,
    put?: (writer: MessageWriter) => void,
    onAttributes?: (attributes: AttributeReader) => void,
  ): Promise<number> {
    const { writer } = this;
    const sequence = ++this.sequence;
    writer.length = 0;
    const start = writer.beginMessage(type, NLM_F_REQUEST | flags, sequence);
    writer.putWord(FAMILY_WORD);
    writer.putText(ATTRIBUTE.NAME, name);
    put?.(writer);
    writer.endMessage(start);
    await this.socket.send(writer.bytes, writer.length);
    const { errno } = await this.socket.receiveAnswer(sequence, flags === 0, (message) =>
      onAttributes?.(new AttributeReader(message.bytes, message.start + 4, message.end)),
    );
    return errno;
  }
}
