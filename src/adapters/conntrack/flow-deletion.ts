import type { IpFamily } from '../../domain/net/ip-family.js';
import { ENOENT, EPERM } from '../netlink/errno.js';
import { NetlinkPermissionError, NetlinkRequestError } from '../netlink/errors.js';
import { MessageWriter } from '../netlink/message-writer.js';
import type { NetlinkSocket } from '../netlink/netlink-socket.js';
import { NLM_F_REQUEST } from '../netlink/protocol.js';
import { CT_DELETE, familyWord } from './ctnetlink.js';
import type { FlowReader } from './flow-reader.js';

/** Deletions sent at once: well below what the receive buffer holds in errors, and a millisecond's work. */
const AT_ONCE = 256;

/**
 * Removes flows, many with one call. Only refusals are answered. A flow that is not there any more is fine; of other
 * refusals the first is kept, and the rest goes on.
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
    writer.putWord(familyWord(this.family));
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
    const refusals = replies.filter(({ errno }) => errno !== 0);
    this.deleted += count - refusals.length;
    const refusal = refusals.find(({ errno }) => errno !== ENOENT);
    if (refusal?.errno === EPERM) throw new NetlinkPermissionError('the removal of a tracked connection');
    if (refusal)
      this.problem ??= new NetlinkRequestError(
        'the removal of a tracked connection',
        refusal.errno,
        refusal.explanation,
      );
    if (lost) this.problem ??= new Error('the kernel refused more removals than could be read');
  }
}
