import { AttributeReader } from '../../netlink/attribute-reader.js';
import { EBUSY, ENOENT } from '../../netlink/errno.js';
import type { MessageWriter } from '../../netlink/message-writer.js';
import { NetlinkChannel } from '../../netlink/netlink-channel.js';
import { NetlinkSocket } from '../../netlink/netlink-socket.js';
import { NETLINK_NETFILTER, NLM_F_CREATE } from '../../netlink/protocol.js';

/** linux/netfilter/nfnetlink_acct.h */
const NEW = 7 << 8;
const GET = (7 << 8) | 1;
const ATTRIBUTE = { NAME: 1, PACKETS: 2, BYTES: 3 } as const;
const FAMILY_WORD = 16;

/**
 * Named counters of the kernel that rules may add to (docs/spec/iptables.md §15). They belong to the network namespace, and
 * stay when the process ends.
 */
export class Nfacct {
  private constructor(private readonly channel: NetlinkChannel) {}

  /** Throws a NetlinkError where there is no netlink; whether the kernel has counters shows when one is asked for. */
  static open(): Nfacct {
    const channel = new NetlinkChannel(() => NetlinkSocket.open(NETLINK_NETFILTER));
    channel.open();
    return new Nfacct(channel);
  }

  /** Makes the counter unless it is there. Rejects with NetlinkRequestError where the kernel has none. */
  async ensure(name: string): Promise<void> {
    if ((await this.packets(name)) !== undefined) return;
    const put = (writer: MessageWriter): void => {
      putCounter(writer, name);
      writer.putBytes(ATTRIBUTE.PACKETS, Buffer.alloc(8));
      writer.putBytes(ATTRIBUTE.BYTES, Buffer.alloc(8));
    };
    const attempt = `making the counter ${name}`;
    await this.channel.carryOut({ type: NEW, flags: NLM_F_CREATE, attempt, put }, [EBUSY]);
  }

  /** How many packets were counted; undefined when there is no such counter. */
  packets(name: string): Promise<number | undefined> {
    const attempt = `reading the counter ${name}`;
    const put = (writer: MessageWriter): void => putCounter(writer, name);
    return this.channel.find({ type: GET, attempt, put }, [ENOENT], ({ bytes, start, end }) => {
      const attributes = new AttributeReader(bytes, start + 4, end);
      while (attributes.next()) if (attributes.type === ATTRIBUTE.PACKETS) return attributes.number();
      return 0;
    });
  }

  /** Idempotent. */
  close(): void {
    void this.channel.close();
  }
}

function putCounter(writer: MessageWriter, name: string): void {
  writer.putWord(FAMILY_WORD);
  writer.putText(ATTRIBUTE.NAME, name);
}
