import type { IpFamily } from '../../../../domain/net/ip-family.js';
import { safeComment } from '../../../../domain/nftables/text/safe-text.js';
import {
  TABLE_NAME,
  type ChainDefinition,
  type Operation,
  type SetDefinition,
  type SetElement,
} from '../../../../domain/nftables/layout/table.js';
import type { MessageWriter } from '../../../netlink/message-writer.js';
import { NLM_F_APPEND, NLM_F_CREATE, NLM_F_ECHO, NLM_F_REQUEST } from '../../../netlink/protocol.js';
import { BatchIndex } from './batch.js';
import { ElementEncoder } from './element-encoder.js';
import * as nf from '../nf-tables.js';
import { putRule } from './rule-encoder.js';
import { setLayout } from './set-layout.js';
import { commentUserdata, setUserdata } from './set-userdata.js';

/** A list of elements is one attribute, whose length has 16 bits; no element is longer than the difference. */
const MAX_LIST = 64_500;

const HOOK_NUMBERS = { prerouting: 0, input: 1, forward: 2, output: 3, postrouting: 4 } as const;

/** The position of the encoder, for the errors that it throws. */
export interface Position {
  readonly operation: number;
  readonly element?: number;
}

/**
 * Writes the operations of one transaction as a batch of messages (docs/spec/nft-netlink.md §3, §5, §6, §12), with the
 * flags that nft uses. `encode` pauses after every message that is full of elements, so that the caller can yield to
 * the event loop. It throws UnsafeTextError for what cannot be written; `position` then says where.
 *
 * The first operation asks for an echo: then the kernel reports the generation of the transaction, and what that one
 * message does. So it has one element only, and there is no echo of what would be reported at length.
 */
export class BatchEncoder {
  readonly index: BatchIndex;
  position: Position = { operation: 0 };
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
    this.family = nf.familyWord(ipFamily);
  }

  *encode(operations: readonly Operation[]): Generator<void> {
    this.frame(nf.NFNL_MSG_BATCH_BEGIN);
    this.echo = hasShortEcho(operations[0]) ? NLM_F_ECHO : 0;
    for (let operation = 0; operation < operations.length; operation++) {
      this.position = { operation };
      const described = operations[operation]!;
      if (described.op === 'add-elements' || described.op === 'delete-elements') {
        yield* this.elementMessages(
          operation,
          described.set,
          described.elements,
          described.op === 'add-elements',
        );
      } else {
        this.message(operation, described);
      }
    }
    this.frame(nf.NFNL_MSG_BATCH_END);
  }

  private frame(type: number): void {
    const start = this.begin(type, NLM_F_REQUEST, -1, -1);
    this.writer.putWord(nf.BATCH_WORD);
    this.writer.endMessage(start);
  }

  private begin(type: number, flags: number, operation: number, firstElement: number): number {
    const start = this.writer.beginMessage(type, flags | this.echo, this.index.nextSequence);
    this.index.note(operation, firstElement, start);
    this.echo = 0;
    return start;
  }

  private message(
    operation: number,
    described: Exclude<Operation, { op: 'add-elements' | 'delete-elements' }>,
  ): void {
    const { writer, family } = this;
    const [type, flags] = messageOf(described.op);
    const start = this.begin(type, flags, operation, -1);
    writer.putWord(family);
    writer.putText(1, TABLE_NAME); // NFTA_*_TABLE, and the name of the table itself, are all number 1.
    switch (described.op) {
      case 'add-table':
        writer.putU32(nf.TABLE.FLAGS, 0);
        writer.putBytes(nf.TABLE.USERDATA, commentUserdata(safeComment(described.comment)));
        break;
      case 'delete-table':
        break;
      case 'add-chain':
        this.chain(described.chain);
        break;
      case 'delete-chain':
        writer.putText(nf.CHAIN.NAME, described.chain);
        break;
      case 'flush-chain':
        writer.putText(nf.RULE.CHAIN, described.chain);
        break;
      case 'add-rule':
        writer.putText(nf.RULE.CHAIN, described.chain);
        putRule(writer, this.ipFamily, described.rule);
        break;
      case 'add-set':
        this.set(described.set);
        break;
      case 'delete-set':
        writer.putText(nf.SET.NAME, described.set.name);
        break;
      case 'flush-set':
        writer.putText(nf.ELEMENTS.SET, described.set.name);
        break;
    }
    writer.endMessage(start);
  }

  private chain({ name, hook }: ChainDefinition): void {
    const { writer } = this;
    writer.putText(nf.CHAIN.NAME, name);
    if (!hook) return;
    writer.putText(nf.CHAIN.TYPE, hook.type);
    const nest = writer.beginNest(nf.CHAIN.HOOK);
    writer.putU32(nf.HOOK.NUMBER, HOOK_NUMBERS[hook.hook]);
    writer.putU32(nf.HOOK.PRIORITY, hook.priority);
    writer.endNest(nest);
  }

  private set(set: SetDefinition): void {
    const { writer } = this;
    const layout = setLayout(this.ipFamily, set);
    writer.putText(nf.SET.NAME, set.name);
    writer.putU32(nf.SET.FLAGS, layout.flags);
    writer.putU32(nf.SET.KEY_TYPE, layout.keyType);
    writer.putU32(nf.SET.KEY_LENGTH, layout.keyLength);
    if (set.value !== undefined) {
      writer.putU32(nf.SET.DATA_TYPE, layout.dataType);
      writer.putU32(nf.SET.DATA_LENGTH, layout.dataLength);
    }
    writer.putU32(nf.SET.ID, ++this.setIds);
    if (layout.size > 0) {
      const description = writer.beginNest(nf.SET.DESCRIPTION);
      writer.putU32(nf.DESCRIPTION_SIZE, layout.size);
      writer.endNest(description);
    }
    if (set.comment !== undefined) safeComment(set.comment);
    writer.putBytes(nf.SET.USERDATA, setUserdata(set, layout.key, layout.value));
  }

  private *elementMessages(
    operation: number,
    set: SetDefinition,
    elements: readonly SetElement[],
    add: boolean,
  ): Generator<void> {
    const { writer } = this;
    const layout = setLayout(this.ipFamily, set);
    let element = 0;
    try {
      while (element < elements.length) {
        const type = add ? nf.NEWSETELEM : nf.DELSETELEM;
        const flags = add ? NLM_F_REQUEST | NLM_F_CREATE : NLM_F_REQUEST;
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

/** What empties a table or a set is reported element by element. */
function hasShortEcho(first: Operation | undefined): boolean {
  return first !== undefined && first.op !== 'delete-table' && first.op !== 'flush-set';
}

type SingleOperation = Exclude<Operation['op'], 'add-elements' | 'delete-elements'>;

function messageOf(operation: SingleOperation): readonly [type: number, flags: number] {
  switch (operation) {
    case 'add-table':
      return [nf.NEWTABLE, NLM_F_REQUEST];
    case 'add-chain':
      return [nf.NEWCHAIN, NLM_F_REQUEST | NLM_F_CREATE];
    case 'add-rule':
      return [nf.NEWRULE, NLM_F_REQUEST | NLM_F_CREATE | NLM_F_APPEND];
    case 'add-set':
      return [nf.NEWSET, NLM_F_REQUEST | NLM_F_CREATE];
    case 'delete-table':
      return [nf.DELTABLE, NLM_F_REQUEST];
    case 'delete-chain':
      return [nf.DELCHAIN, NLM_F_REQUEST];
    case 'flush-chain':
      return [nf.DELRULE, NLM_F_REQUEST];
    case 'delete-set':
      return [nf.DELSET, NLM_F_REQUEST];
    case 'flush-set':
      return [nf.DELSETELEM, NLM_F_REQUEST];
  }
}
