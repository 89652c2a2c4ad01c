import type { KernelReply } from '../../../netlink/message-reader.js';
import { errnoName } from '../../../netlink/errno.js';
import { align, HEADER_LENGTH, NLA_TYPE_MASK } from '../../../netlink/protocol.js';
import type { NftFailure } from '../../transport.js';
import { ELEMENTS } from '../nf-tables.js';

/** The origin of each message of a batch. Its sequence number is `firstSequence` plus its index. */
export class BatchIndex {
  private readonly operations: number[] = [];
  private readonly firstElements: number[] = [];
  private readonly starts: number[] = [];

  constructor(readonly firstSequence: number) {}

  get nextSequence(): number {
    return this.firstSequence + this.operations.length;
  }

  /** That of the first operation's message: what the kernel reports of the whole transaction has it, too. */
  get echoSequence(): number {
    return this.firstSequence + 1;
  }

  /** Records the next message: its operation (-1 for none), its first element (-1 for none), its position. */
  note(operation: number, firstElement: number, start: number): void {
    this.operations.push(operation);
    this.firstElements.push(firstElement);
    this.starts.push(start);
  }

  /** The refusal that the kernel's error reports. Undefined for replies to something else. */
  failureOf(reply: KernelReply, bytes: Buffer): NftFailure | undefined {
    const index = reply.sequence - this.firstSequence;
    if (index < 0 || index >= this.operations.length || reply.errno === 0) return undefined;
    const name = errnoName(reply.errno);
    const reason = reply.explanation === undefined ? name : `${name}: ${reply.explanation}`;
    const operation = this.operations[index]!;
    if (operation < 0) return { reason };
    const element = this.elementOf(index, reply.offset, bytes);
    return element === undefined ? { operation, reason } : { operation, element, reason };
  }

  /** The element at the offset in the message, or the only one in the message. */
  private elementOf(index: number, offset: number | undefined, bytes: Buffer): number | undefined {
    const first = this.firstElements[index]!;
    if (first < 0) return undefined;
    const start = this.starts[index]!;
    const end = start + bytes.readUInt32LE(start);
    let count = 0;
    let found: number | undefined;
    for (let at = start + HEADER_LENGTH + 4; at < end; at += align(bytes.readUInt16LE(at))) {
      if ((bytes.readUInt16LE(at + 2) & NLA_TYPE_MASK) !== ELEMENTS.LIST) continue;
      const listEnd = at + bytes.readUInt16LE(at);
      for (let entry = at + 4; entry < listEnd; entry += align(bytes.readUInt16LE(entry))) {
        const next = entry + bytes.readUInt16LE(entry);
        if (offset !== undefined && start + offset >= entry && start + offset < next) found = first + count;
        count++;
      }
    }
    return found ?? (count === 1 ? first : undefined);
  }
}
