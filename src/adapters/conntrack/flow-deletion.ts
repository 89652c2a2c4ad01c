import type { IpFamily } from '../../domain/net/ip-family.js';
import { ENOENT, EPERM } from '../netlink/errno.js';
import { NetlinkPermissionError, NetlinkRequestError } from '../netlink/errors.js';
import { MessageWriter } from '../netlink/message-writer.js';
import type { NetlinkSocket } from '../netlink/netlink-socket.js';
import { familyNumber, NLM_F_REQUEST } from '../netlink/protocol.js';
import { CT_DELETE } from './ctnetlink.js';
import type { FlowReader } from './flow-reader.js';

/** Deletions sent together: a millisecond's work, and far fewer than the errors that the receive buffer holds. */
const AT_ONCE = 256;

/**
 * Removes flows, many per system call. The kernel replies only to deletions that it rejects. A flow that no longer exists is
 * fine. Of other rejections the first is kept in `problem`, and the rest continues.
 */
export class FlowDeletion {
  deleted = 0;
  problem: Error | undefined;
  private readonly writer = new MessageWriter(AT_ONCE * 128);
  private count = 0;

  constructor(
    private readonly socket: NetlinkSocket,
    private readonly family: IpFamily,
  ) {}

  get full(): boolean {
    return this.count >= AT_ONCE;
  }

  add(flow: FlowReader): void {
    const { writer } = this;
    const start = writer.beginMessage(CT_DELETE, NLM_F_REQUEST, ++this.count);
    writer.putWord(familyNumber(this.family));
    flow.writeIdentity(writer);
    writer.endMessage(start);
  }

  async flush(): Promise<void> {
    const { writer, count, socket } = this;
    if (count === 0) return;
    await socket.send(writer.bytes, writer.length);
    writer.length = 0;
    this.count = 0;
    const { replies, lost } = socket.collectReplies();
    const rejections = replies.filter(({ errno }) => errno !== 0);
    this.deleted += count - rejections.length;
    const rejection = rejections.find(({ errno }) => errno !== ENOENT);
    if (rejection?.errno === EPERM) throw new NetlinkPermissionError('removing a tracked connection');
    if (rejection)
      this.problem ??= new NetlinkRequestError(
        'removing a tracked connection',
        rejection.errno,
        rejection.explanation,
      );
    if (lost)
      this.problem ??= new Error('the kernel rejected more removals than its receive buffer can report');
  }
}
