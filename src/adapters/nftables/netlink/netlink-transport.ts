import { setImmediate as breathe } from 'node:timers/promises';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { Rule } from '../../../domain/nftables/rule.js';
import { UnsafeTextError } from '../../../domain/nftables/safe-text.js';
import {
  TABLE_NAME,
  type ChainDefinition,
  type Operation,
  type SetDefinition,
} from '../../../domain/nftables/table.js';
import type { AttributeReader } from '../../netlink/attribute-reader.js';
import { ENOENT, EPERM } from '../../netlink/errno.js';
import { NetlinkPermissionError, NetlinkRequestError } from '../../netlink/errors.js';
import type { NetlinkMessage } from '../../netlink/message-reader.js';
import { MessageWriter } from '../../netlink/message-writer.js';
import { NetlinkSocket } from '../../netlink/netlink-socket.js';
import { NETLINK_NETFILTER, NLM_F_DUMP, NLM_F_REQUEST } from '../../netlink/protocol.js';
import {
  NftCommitError,
  type ChainState,
  type NftFailure,
  type NftTransport,
  type SetState,
  type TableState,
} from '../transport.js';
import { BatchEncoder } from './batch-encoder.js';
import { DisturbedReadError } from './disturbed-read-error.js';
import { fingerprintChain, fingerprintRule, fingerprintSet } from './fingerprints.js';
import * as nf from './nf-tables.js';
import { setLayout } from './set-layout.js';
import { attributesOf, ElementReader, readChain, readRule, readSet } from './table-reader.js';

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

  read(family: IpFamily, expected: readonly SetDefinition[]): Promise<TableState | undefined> {
    return this.exclusively(async (socket) => {
      for (let attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
        const before = await this.readGeneration(socket);
        const state = await this.readOnce(socket, family, expected);
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
      await socket.send(writer.bytes, writer.length);
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

  private async readOnce(
    socket: NetlinkSocket,
    family: IpFamily,
    expected: readonly SetDefinition[],
  ): Promise<TableState | undefined | 'disturbed'> {
    const query = new TableQuery((type, name, flags, put, onMessage) =>
      this.request(socket, name, type, flags, nf.familyWord(family), put, onMessage),
    );
    if (!(await query.tableExists())) return undefined;
    const chains = await query.chains();
    const fingerprints = chains && (await query.sets());
    if (!chains || !fingerprints) return 'disturbed';
    const sets = new Map<string, SetState>();
    const layouts = new Map(expected.map((set) => [set.name, set]));
    for (const [name, fingerprint] of fingerprints) {
      const set = layouts.get(name);
      const known = set?.dynamicSize === undefined && set && fingerprint === fingerprintSet(family, set);
      const reader = known ? new ElementReader(setLayout(family, set)) : undefined;
      if (reader && !(await query.elements(name, reader))) return 'disturbed';
      sets.set(name, { fingerprint, elements: reader?.elements ?? new Map() });
    }
    return { chains, sets };
  }

  private async readGeneration(socket: NetlinkSocket): Promise<number> {
    let generation = 0;
    await this.request(socket, 'GETGEN', nf.GETGEN, 0, 0, undefined, (message) => {
      const attributes = attributesOf(message);
      while (attributes.next()) if (attributes.type === nf.GENERATION_ID) generation = attributes.number();
    });
    return generation;
  }

  /** Sends one request and hands on what is answered. False when what is asked for is not there. */
  private async request(
    socket: NetlinkSocket,
    name: string,
    type: number,
    flags: number,
    family: number,
    put: ((writer: MessageWriter) => void) | undefined,
    onMessage: (message: NetlinkMessage) => void,
  ): Promise<boolean> {
    const { writer } = this;
    const sequence = this.nextSequence();
    this.sequence++;
    writer.length = 0;
    const start = writer.beginMessage(type, NLM_F_REQUEST | flags, sequence);
    writer.putWord(family);
    put?.(writer);
    writer.endMessage(start);
    await socket.send(writer.bytes, writer.length);
    const { errno, explanation } = await socket.receiveAnswer(sequence, flags === 0, onMessage);
    if (errno === 0) return true;
    if (errno === ENOENT) return false;
    if (errno === EPERM) throw new NetlinkPermissionError(`the request ${name} of nf_tables`);
    throw new NetlinkRequestError(`${name} of nf_tables`, errno, explanation);
  }
}

type Ask = (
  type: number,
  name: string,
  flags: number,
  put: (writer: MessageWriter) => void,
  onMessage: (message: NetlinkMessage) => void,
) => Promise<boolean>;

/** The questions that make up a read of the table. */
class TableQuery {
  constructor(private readonly ask: Ask) {}

  tableExists(): Promise<boolean> {
    return this.ask(
      nf.GETTABLE,
      'GETTABLE',
      0,
      (writer) => writer.putText(nf.TABLE.NAME, TABLE_NAME),
      ignore,
    );
  }

  /** Chains with the fingerprints of their rules in order; undefined when the table has gone. */
  async chains(): Promise<ReadonlyMap<string, ChainState> | undefined> {
    const chains = new Map<string, { fingerprint: string; rules: string[] }>();
    await this.dump(nf.GETCHAIN, 'GETCHAIN', (attributes) => {
      const chain = readChain(attributes);
      if (chain) chains.set(chain.name, { fingerprint: chain.fingerprint, rules: [] });
    });
    const complete = await this.dump(nf.GETRULE, 'GETRULE', (attributes) => {
      const { chain, fingerprint } = readRule(attributes);
      chains.get(chain)?.rules.push(fingerprint);
    });
    return complete ? chains : undefined;
  }

  /** The fingerprints of the named sets; undefined when the table has gone. */
  async sets(): Promise<ReadonlyMap<string, string> | undefined> {
    const sets = new Map<string, string>();
    const complete = await this.dump(nf.GETSET, 'GETSET', (attributes) => {
      const set = readSet(attributes);
      if (set) sets.set(set.name, set.fingerprint);
    });
    return complete ? sets : undefined;
  }

  /** False when the set has gone. */
  elements(set: string, reader: ElementReader): Promise<boolean> {
    const put = (writer: MessageWriter) => {
      writer.putText(nf.ELEMENTS.TABLE, TABLE_NAME);
      writer.putText(nf.ELEMENTS.SET, set);
    };
    return this.ask(nf.GETSETELEM, 'GETSETELEM', NLM_F_DUMP, put, (message) => reader.read(message));
  }

  /** All tables' names are attribute number 1. */
  private dump(type: number, name: string, onEntry: (attributes: AttributeReader) => void): Promise<boolean> {
    const put = (writer: MessageWriter) => writer.putText(1, TABLE_NAME);
    return this.ask(type, name, NLM_F_DUMP, put, (message) => onEntry(attributesOf(message)));
  }
}

function ignore(): void {
  // Only whether there is an answer matters.
}
