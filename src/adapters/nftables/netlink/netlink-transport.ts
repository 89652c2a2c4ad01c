import { setImmediate as breathe } from 'node:timers/promises';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { Rule } from '../../../domain/nftables/rule.js';
import { UnsafeTextError } from '../../../domain/nftables/safe-text.js';
import { type ChainDefinition, type Operation, type SetDefinition } from '../../../domain/nftables/table.js';
import { ENOENT, EPERM } from '../../netlink/errno.js';
import { NetlinkPermissionError, NetlinkRequestError } from '../../netlink/errors.js';
import type { NetlinkMessage } from '../../netlink/message-reader.js';
import { MessageWriter } from '../../netlink/message-writer.js';
import { NetlinkSocket } from '../../netlink/netlink-socket.js';
import { NETLINK_NETFILTER, NLM_F_REQUEST } from '../../netlink/protocol.js';
import { NftCommitError, type NftFailure, type NftTransport, type TableState } from '../transport.js';
import { BatchEncoder } from './batch-encoder.js';
import { DisturbedReadError } from './disturbed-read-error.js';
import { fingerprintChain, fingerprintRule, fingerprintSet } from './fingerprints.js';
import * as nf from './nf-tables.js';
import { queryTable, type Ask, type Question } from './table-query.js';
import { attributesOf } from './table-reader.js';

const READ_ATTEMPTS = 10;
/** So many bytes are encoded before others have their turn: about a millisecond's work. */
const ENCODED_AT_ONCE = 1024 * 1024;
/** A larger buffer is not kept for the next batch. */
const KEPT_BUFFER = 1024 * 1024;
/** Sequence numbers have 32 bits; long before, they start over. */
const MAX_SEQUENCE = 0x8000_0000;

/**
 * nf_tables over a netlink socket of its own, in the network namespace of this process. A transaction is one batch, sent
 * at once; the kernel has committed or refused it when sending is done, and only errors are answered.
 *
 * Calls are carried out one after the other. A socket on which something unforeseen happened is given up, since answers
 * may still wait in it; the next call opens another.
 */
export class NetlinkNftTransport implements NftTransport {
  readonly name = 'netlink';
  private writer = new MessageWriter();
  private sequence = 1;
  private last: Promise<unknown> = Promise.resolve();
  private closed = false;

  private constructor(
    private readonly openSocket: () => NetlinkSocket,
    private socket: NetlinkSocket | undefined,
  ) {}

  /** Throws NetlinkUnavailableError or NetlinkSystemError where netlink is not to be had; `nft` may serve instead. */
  static open(openSocket = () => NetlinkSocket.open(NETLINK_NETFILTER)): NetlinkNftTransport {
    return new NetlinkNftTransport(openSocket, openSocket());
  }

  commit(family: IpFamily, operations: readonly Operation[]): Promise<void> {
    if (operations.length === 0) return Promise.resolve();
    return this.exclusively((socket) => this.commitOn(socket, family, operations));
  }

  read(
    family: IpFamily,
    expected: readonly SetDefinition[],
    signal?: AbortSignal,
  ): Promise<TableState | undefined> {
    return this.exclusively(async (socket) => {
      const ask: Ask = (question) =>
        this.ask(socket, nf.familyWord(family), {
          ...question,
          onMessage: (message) => {
            signal?.throwIfAborted();
            question.onMessage?.(message);
          },
        });
      for (let attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
        const before = await this.readGeneration(socket);
        const state = await queryTable(ask, family, expected);
        if (state !== 'disturbed' && before === (await this.readGeneration(socket))) return state;
      }
      throw new DisturbedReadError(family, READ_ATTEMPTS);
    });
  }

  generation(): Promise<number | undefined> {
    return this.exclusively((socket) => this.readGeneration(socket));
  }

  fingerprintRule(family: IpFamily, rule: Rule): string {
    return fingerprintRule(family, rule);
  }

  fingerprintSet(family: IpFamily, set: SetDefinition): string {
    return fingerprintSet(family, set);
  }

  fingerprintChain(chain: ChainDefinition): string {
    return fingerprintChain(chain);
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.last.catch(() => undefined);
    this.socket?.close();
    this.socket = undefined;
  }

  /** Waits for the calls before, whatever became of them. */
  private exclusively<T>(call: (socket: NetlinkSocket) => Promise<T>): Promise<T> {
    const turn = this.last.then(async () => {
      if (this.closed) throw new Error('the netlink transport is closed');
      const socket = (this.socket ??= this.openSocket());
      try {
        return await call(socket);
      } catch (error) {
        if (!(error instanceof NftCommitError || error instanceof NetlinkRequestError)) this.giveUp();
        throw error;
      }
    });
    this.last = turn.catch(() => undefined);
    return turn;
  }

  private giveUp(): void {
    this.socket?.close();
    this.socket = undefined;
  }

  private async commitOn(
    socket: NetlinkSocket,
    family: IpFamily,
    operations: readonly Operation[],
  ): Promise<void> {
    const { writer } = this;
    writer.length = 0;
    try {
      const index = await this.encode(family, operations);
      this.sequence = index.nextSequence;
      await socket.send(writer.bytes, writer.length, operations.some(removesMuch));
      const { replies, lost } = socket.collectReplies();
      const failures: NftFailure[] = [];
      for (const reply of replies) {
        if (reply.errno === EPERM) throw new NetlinkPermissionError('a transaction of nf_tables');
        const failure = index.failureOf(reply, writer.bytes);
        if (failure) failures.push(failure);
      }
      // No acknowledgements were asked for, so replies that were lost were errors.
      if (lost && failures.length === 0) failures.push({ reason: 'ENOBUFS' });
      if (failures.length > 0) throw new NftCommitError(family, failures);
    } finally {
      if (writer.bytes.length > KEPT_BUFFER) this.writer = new MessageWriter();
    }
  }

  private async encode(family: IpFamily, operations: readonly Operation[]): Promise<BatchEncoder['index']> {
    const encoder = new BatchEncoder(this.writer, family, this.nextSequence());
    let pause = ENCODED_AT_ONCE;
    try {
      for (const _ of encoder.encode(operations)) {
        if (this.writer.length < pause) continue;
        pause = this.writer.length + ENCODED_AT_ONCE;
        await breathe();
      }
    } catch (error) {
      if (!(error instanceof UnsafeTextError)) throw error;
      throw new NftCommitError(family, [{ ...encoder.position, reason: error.message }]);
    }
    return encoder.index;
  }

  private nextSequence(): number {
    if (this.sequence > MAX_SEQUENCE) this.sequence = 1;
    return this.sequence;
  }

  private async readGeneration(socket: NetlinkSocket): Promise<number> {
    let generation = 0;
    const onMessage = (message: NetlinkMessage) => {
      const attributes = attributesOf(message);
      while (attributes.next()) if (attributes.type === nf.GENERATION_ID) generation = attributes.number();
    };
    await this.ask(socket, 0, { type: nf.GETGEN, name: 'GETGEN', flags: 0, onMessage });
    return generation;
  }

  /** Sends one request and hands on what is answered. False when what is asked for is not there. */
  private async ask(
    socket: NetlinkSocket,
    familyWord: number,
    { type, name, flags, put, onMessage }: Question,
  ): Promise<boolean> {
    const { writer } = this;
    const sequence = this.nextSequence();
    this.sequence++;
    writer.length = 0;
    const start = writer.beginMessage(type, NLM_F_REQUEST | flags, sequence);
    writer.putWord(familyWord);
    put?.(writer);
    writer.endMessage(start);
    await socket.send(writer.bytes, writer.length);
    const { errno, explanation } = await socket.receiveAnswer(
      sequence,
      flags === 0,
      onMessage ?? (() => undefined),
    );
    if (errno === 0) return true;
    if (errno === ENOENT) return false;
    if (errno === EPERM) throw new NetlinkPermissionError(`the request ${name} of nf_tables`);
    throw new NetlinkRequestError(`${name} of nf_tables`, errno, explanation);
  }
}

/** Small messages by which the kernel frees any number of elements before it answers. */
function removesMuch({ op }: Operation): boolean {
  return op === 'delete-table' || op === 'delete-set' || op === 'flush-set';
}
