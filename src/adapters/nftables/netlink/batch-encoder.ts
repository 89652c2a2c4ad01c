import type { IpFamily } from '../../../domain/net/ip-family.js';
import {
  TABLE_NAME,
  type Operation,
  type SetDefinition,
  type SetElement,
} from '../../../domain/nftables/layout/table.js';
import { safeComment } from '../../../domain/nftables/safe-text.js';
import { errnoName } from '../../netlink/errors.js';
import type { KernelReply } from '../../netlink/message-reader.js';
import type { MessageWriter } from '../../netlink/message-writer.js';
import {
  familyNumber,
  NLM_F_APPEND,
  NLM_F_CREATE,
  NLM_F_ECHO,
  NLM_F_REQUEST,
  align,
  HEADER_LENGTH,
  NLA_TYPE_MASK,
} from '../../netlink/protocol.js';
import type { NftFailure } from '../transport.js';
import type { AttributeLayout, Fields, Values } from './attribute-layout.js';
import { ElementEncoder } from './elements.js';
import * as nf from './nf-tables.js';
import { ELEMENTS } from './nf-tables.js';
import { CHAIN, OBJECT, RULE, SET, TABLE, type SetRecord } from './records.js';
import { setLayout, setUserdata } from './set-layout.js';

/** A list of elements is one attribute, whose length has 16 bits; no element is longer than the difference. */
const MAX_LIST = 64_500;

/**
 * Writes the operations of one transaction as a batch of messages (docs/internals/spec/nft-netlink.md §3, §5, §6, §12), with the
 * flags that nft uses. `encode` pauses after every message that is full of elements, so that the caller can yield to
 * the event loop. It throws UnsafeTextError for what cannot be written; `position` then has the place.
 *
 * The first operation requests an echo: then the kernel reports the generation of the transaction, and what that one
 * message does. So it has one element only, and there is no echo of what would be reported at length.
 */
export class BatchEncoder {
  readonly index: BatchIndex;
  /** Where it is, for the errors that it throws. */
  position: Omit<NftFailure, 'reason'> = { operation: 0 };
  private readonly elements: ElementEncoder;
  private readonly family: number;
  private setIds = 0;
  /** The flag for the next message. */
  private echo: typeof NLM_F_ECHO | 0 = 0;

  constructor(
    private readonly writer: MessageWriter,
    private readonly ipFamily: IpFamily,
    firstSequence: number,
  ) {
    this.index = new BatchIndex(firstSequence);
    this.elements = new ElementEncoder(writer);
    this.family = familyNumber(ipFamily);
  }

  *encode(operations: readonly Operation[]): Generator<void> {
    this.frame(nf.NFNL_MSG_BATCH_BEGIN);
    // Emptying a table is reported element by element.
    this.echo = operations.length > 0 && operations[0]!.op !== 'delete-table' ? NLM_F_ECHO : 0;
    for (let operation = 0; operation < operations.length; operation++) {
      this.position = { operation };
      const described = operations[operation]!;
      if (described.op === 'add-elements' || described.op === 'delete-elements')
        yield* this.elementMessages(operation, described);
      else this.message(operation, described);
    }
    this.frame(nf.NFNL_MSG_BATCH_END);
  }

  private frame(type: number): void {
    const start = this.begin(type, 0, -1, -1);
    this.writer.putWord(nf.BATCH_WORD);
    this.writer.endMessage(start);
  }

  private begin(type: number, flags: number, operation: number, firstElement: number): number {
    const start = this.writer.beginMessage(type, NLM_F_REQUEST | flags | this.echo, this.index.nextSequence);
    this.index.note(operation, firstElement, start);
    this.echo = 0;
    return start;
  }

  private message(operation: number, described: Exclude<Operation, ElementOperation>): void {
    const table = TABLE_NAME;
    const put = <F extends Fields>(
      type: number,
      flags: number,
      layout: AttributeLayout<F>,
      values: Values<F>,
    ): void => {
      const start = this.begin(type, flags, operation, -1);
      this.writer.putWord(this.family);
      layout.write(this.writer, values);
      this.writer.endMessage(start);
    };
    switch (described.op) {
      case 'add-table': {
        const userdata = { comment: safeComment(described.comment) };
        return put(nf.NEWTABLE, 0, TABLE, { name: table, flags: 0, userdata });
      }
      case 'delete-table':
        return put(nf.DELTABLE, 0, TABLE, { name: table });
      case 'add-chain': {
        const { chain } = described;
        return put(nf.NEWCHAIN, NLM_F_CREATE, CHAIN, { table, ...chain, type: chain.hook?.type });
      }
      case 'delete-chain':
        return put(nf.DELCHAIN, 0, CHAIN, { table, name: described.chain });
      case 'flush-chain':
        return put(nf.DELRULE, 0, RULE, { table, chain: described.chain });
      case 'add-rule': {
        const { chain, rule } = described;
        const userdata = rule.comment === undefined ? undefined : { comment: safeComment(rule.comment) };
        const its = { table, chain, expressions: rule.expressions, userdata };
        return put(nf.NEWRULE, NLM_F_CREATE | NLM_F_APPEND, RULE, its);
      }
      case 'add-counter': {
        const its = { table, name: described.counter, type: nf.OBJECT_COUNTER, data: {} };
        return put(nf.NEWOBJ, NLM_F_CREATE, OBJECT, its);
      }
      case 'delete-counter':
        return put(nf.DELOBJ, 0, OBJECT, { table, name: described.counter, type: nf.OBJECT_COUNTER });
      case 'add-set':
        return put(nf.NEWSET, NLM_F_CREATE, SET, { table, ...this.setRecord(described.set) });
      case 'delete-set':
        return put(nf.DELSET, 0, SET, { table, name: described.set.name });
    }
  }

  private setRecord(set: SetDefinition): SetRecord {
    const layout = setLayout(this.ipFamily, set);
    const { flags, keyType, keyLength, dataType, dataLength, size } = layout;
    if (set.comment !== undefined) safeComment(set.comment);
    return {
      name: set.name,
      flags,
      keyType,
      keyLength,
      ...(set.value !== undefined && { dataType, dataLength }),
      id: ++this.setIds,
      ...(size > 0 && { description: { size } }),
      userdata: setUserdata(set, layout.key, layout.value),
    };
  }

  private *elementMessages(operation: number, { op, set, elements }: ElementOperation): Generator<void> {
    const { writer } = this;
    const add = op === 'add-elements';
    const layout = setLayout(this.ipFamily, set);
    let element = 0;
    try {
      while (element < elements.length) {
        const [type, flags] = add ? [nf.NEWSETELEM, NLM_F_CREATE] : [nf.DELSETELEM, 0];
        const most = this.echo === 0 ? elements.length : element + 1;
        const start = this.begin(type, flags, operation, element);
        writer.putWord(this.family);
        writer.putText(nf.ELEMENTS.TABLE, TABLE_NAME);
        writer.putText(nf.ELEMENTS.SET, set.name);
        const list = writer.beginNest(nf.ELEMENTS.LIST);
        while (element < most && writer.length - list < MAX_LIST) {
          this.elements.put(set, layout, elements[element]!, add);
          element++;
        }
        writer.endNest(list);
        writer.endMessage(start);
        yield;
      }
    } catch (error) {
      this.position = { operation, element };
      throw error;
    }
  }
}

type ElementOperation = Extract<Operation, { readonly elements: readonly SetElement[] }>;

/** The origin of each message of a batch. Its sequence number is `firstSequence` plus its index. */
class BatchIndex {
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

  /** The rejection that the kernel's error reports. Undefined for replies to something else. */
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
