import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import {
  TABLE_NAME,
  type Operation,
  type SetDefinition,
  type SetElement,
  nftFamily,
} from '../../../domain/nftables/layout/table.js';
import { UnsafeTextError } from '../../../domain/nftables/safe-text.js';
import { EPERM, NetlinkPermissionError, NetlinkRequestError, NetlinkError } from '../../netlink/errors.js';
import { readReply } from '../../netlink/message-reader.js';
import { MessageWriter } from '../../netlink/message-writer.js';
import { NetlinkChannel, type NetlinkConversation } from '../../netlink/netlink-channel.js';
import { NetlinkSocket } from '../../netlink/netlink-socket.js';
import { familyNumber, NETLINK_NETFILTER } from '../../netlink/protocol.js';
import { NftCommitError, type NftFailure, type NftTransport, type TableState } from '../transport.js';
import { queryRunner, readGeneration, readCommit } from './queries.js';
import { BatchEncoder } from './batch-encoder.js';
import { ElementReader, LOOKED_UP_AT_ONCE } from './elements.js';
import * as nf from './nf-tables.js';
import { setLayout } from './set-layout.js';
import { listTables } from './table-listing.js';
import { listElements, lookUpOwn, readState } from './table-state.js';

/** How often a read is restarted because of commits that may concern tables of other programs. */
const UNDISTURBED_ATTEMPTS = 3;
const READ_ATTEMPTS = 10;

/** Bytes encoded before yielding to the event loop: about a millisecond's work. */
const ENCODED_AT_ONCE = 1024 * 1024;

/** A larger buffer is not kept for the next batch. */
const KEPT_BUFFER = 1024 * 1024;

/**
 * nf_tables over a netlink channel. A transaction is one batch, sent in one piece; the kernel has committed or refused it
 * when sending is done, and has replied with errors, or with the generation.
 */
export class NetlinkNftTransport implements NftTransport {
  private writer = new MessageWriter();

  private constructor(
    private readonly channel: NetlinkChannel,
    /** Kept open: to close a socket waits for nf_tables to free what a transaction removed. */
    private readonly selecting: NetlinkChannel,
  ) {}

  /** Throws NetlinkUnavailableError or NetlinkSystemError if netlink is unavailable. */
  static open(openSocket = () => NetlinkSocket.open(NETLINK_NETFILTER)): NetlinkNftTransport {
    const isAnswer = (error: unknown): boolean =>
      error instanceof NftCommitError || error instanceof NetlinkRequestError;
    const channel = new NetlinkChannel(openSocket, isAnswer);
    channel.open();
    return new NetlinkNftTransport(channel, new NetlinkChannel(openSocket, isAnswer));
  }

  commit(family: IpFamily, operations: readonly Operation[]): Promise<number | undefined> {
    if (operations.length === 0) return Promise.resolve(undefined);
    return this.channel.runExclusive((conversation) => this.commitOn(conversation, family, operations));
  }

  read(
    family: IpFamily,
    expected: readonly SetDefinition[],
    signal?: AbortSignal,
  ): Promise<TableState | undefined> {
    return this.channel.runExclusive(async (conversation) => {
      const query = queryRunner(conversation, familyNumber(family), signal);
      for (let attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
        const before = await readGeneration(conversation);
        const listed = (await listTables(query, TABLE_NAME)).get(TABLE_NAME);
        if (!listed) return undefined;
        if (listed.isTorn) continue;
        const mayChange = attempt + 1 < UNDISTURBED_ATTEMPTS;
        if (mayChange && before !== (await readGeneration(conversation))) continue;
        const state = await readState(query, listed, family, expected);
        if (state) return state;
      }
      throw new DisturbedReadError(family, READ_ATTEMPTS);
    });
  }

  async lookUp(
    family: IpFamily,
    set: SetDefinition,
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, SetElement>> {
    const found = new Map<string, SetElement>();
    for (let from = 0; from < keys.length; from += LOOKED_UP_AT_ONCE) {
      if (from > 0) await yieldToEventLoop();
      const some = keys.slice(from, from + LOOKED_UP_AT_ONCE);
      const elements = await this.channel.runExclusive((conversation) =>
        Promise.resolve(lookUpOwn(conversation, family, set, some)),
      );
      for (const [key, element] of elements) found.set(key, element);
    }
    return found;
  }

  /** With the other socket, so that no commit waits for it. */
  async select(
    family: IpFamily,
    set: SetDefinition,
    passes: (first: string) => boolean,
    signal?: AbortSignal,
  ): Promise<readonly string[]> {
    const reader = new ElementReader(setLayout(family, set), passes);
    await this.selecting.runExclusive((conversation) =>
      listElements(queryRunner(conversation, familyNumber(family), signal), set, reader),
    );
    return [...reader.elements.keys()];
  }

  generation(): Promise<number> {
    return this.channel.runExclusive(readGeneration);
  }

  async close(): Promise<void> {
    await Promise.all([this.channel.close(), this.selecting.close()]);
  }

  private async commitOn(
    conversation: NetlinkConversation,
    family: IpFamily,
    operations: readonly Operation[],
  ): Promise<number | undefined> {
    const { writer } = this;
    writer.length = 0;
    try {
      const { socket } = conversation;
      const encoder = new BatchEncoder(writer, family, conversation.nextSequence);
      for (const _ of this.encode(encoder, family, operations)) await yieldToEventLoop();
      const { index } = encoder;
      conversation.nextSequence = index.nextSequence;
      await socket.send(writer.bytes, writer.length, operations.some(removesMuch));
      const failures: NftFailure[] = [];
      let isCommitted = false;
      let generation: number | undefined;
      const lost = socket.collectMessages((message) => {
        const reply = readReply(message);
        if (reply?.errno === EPERM)
          throw new NetlinkPermissionError('a transaction of nf_tables', ', and no other owner of the table');
        const failure = reply && index.failureOf(reply, writer.bytes);
        if (failure) failures.push(failure);
        if (reply || message.sequence !== index.echoSequence) return;
        isCommitted = true;
        if (message.type === nf.NEWGEN) ({ generation } = readCommit(message));
      });
      // No acknowledgements were requested, so lost replies were errors, or what is echoed after a commit.
      if (lost && failures.length === 0 && !isCommitted)
        failures.push({ reason: 'ENOBUFS: the reply was lost' });
      if (failures.length > 0) throw new NftCommitError(family, failures);
      return generation;
    } finally {
      if (writer.bytes.length > KEPT_BUFFER) this.writer = new MessageWriter();
    }
  }

  /** Pauses where the event loop should have a turn. */
  private *encode(
    encoder: BatchEncoder,
    family: IpFamily,
    operations: readonly Operation[],
  ): Generator<void> {
    let pause = ENCODED_AT_ONCE;
    try {
      for (const _ of encoder.encode(operations)) {
        if (this.writer.length < pause) continue;
        pause = this.writer.length + ENCODED_AT_ONCE;
        yield;
      }
    } catch (error) {
      if (!(error instanceof UnsafeTextError)) throw error;
      throw new NftCommitError(family, [{ ...encoder.position, reason: error.message }]);
    }
  }
}

/** Small messages that make the kernel free any number of elements before it answers. */
function removesMuch({ op }: Operation): boolean {
  return op === 'delete-table' || op === 'delete-set';
}

/** Parts of the table disappeared during every attempt to read it. */
class DisturbedReadError extends NetlinkError {
  constructor(family: IpFamily, attempts: number) {
    super(
      `table ${nftFamily(family)} ${TABLE_NAME} could not be read in ${attempts} attempts: ` +
        'another program keeps deleting it or parts of it',
    );
  }
}
