import { getOrMake } from '../../../../src/domain/model/maps.js';
import type { IpFamily } from '../../../../src/domain/net/ip-family.js';
import { E, HEADER, NLM_F, aligned } from '../netlink/numbers.js';
import {
  acknowledge,
  answerEach,
  requestAt,
  type KernelSocket,
  type Multicast,
  type NetlinkProtocol,
} from '../netlink/requests.js';
import { Batch, type BatchOutcome, type Fault } from './batch.js';
import { generationMessage, noticeMessage, Questions, type Now } from './listing.js';
import { BATCH_BEGIN, FAMILY, GROUP, MSG, SUBSYSTEM } from './numbers.js';
import { messageOf, newTable, tableId, type Context, type Table } from './objects.js';
import type { Transaction } from './transaction.js';

const ERESTART = 85;
/** NFNL_BATCH_GENID. */
const BATCH_GENID = 1;
/** Since Linux 6.13 what tells of an element does not say which message it comes from. */
const FIRST_WITH_UNNUMBERED_ELEMENTS = 613;

/** A transaction that was committed. */
interface Commit {
  /** The number of the process that made it. */
  readonly process: number;
  /** Tables that it changed, as `ip kube-proxy`. */
  readonly changed: ReadonlySet<string>;
}

export interface NfTablesOptions {
  /** The time, in milliseconds. */
  readonly now: () => number;
  /** Of the kernel: `5.15`, `6.18`. */
  readonly release?: string;
  readonly multicast?: Multicast;
  /** What iptables-nft has made, which is kept elsewhere: the chains of an IP family, with their tables. */
  readonly keptElsewhere?: (
    family: IpFamily,
  ) => readonly { readonly table: string; readonly chain: string }[];
}

/** What the next batches meet. */
class BatchFaults {
  private readonly refusals: (Fault & { left: number })[] = [];
  private answersToLose = 0;

  refuseNext(fault: Fault): void {
    this.refusals.push({ ...fault, left: fault.count });
  }

  loseAnswers(count: number): void {
    this.answersToLose += count;
  }

  clear(): void {
    this.refusals.length = 0;
    this.answersToLose = 0;
  }

  /** Those of a batch, which count as used. */
  take(batch: Buffer): readonly Fault[] {
    const met = this.refusals.filter(
      ({ containing }) => containing === undefined || batch.includes(containing),
    );
    for (const fault of met) if (--fault.left <= 0) this.refusals.splice(this.refusals.indexOf(fault), 1);
    return met;
  }

  takeLoss(): boolean {
    return this.answersToLose > 0 && this.answersToLose-- > 0;
  }
}

/** nf_tables of the simulated kernel: the part of NETLINK_NETFILTER that has to do with it, and batches. */
export class NfTables implements NetlinkProtocol {
  /** Another one as soon as packets may meet something else, but for elements whose time is over. */
  version = 0;
  readonly faults = new BatchFaults();
  /** How many batches came over sockets, whatever became of them. */
  batches = 0;
  private readonly context: Context;
  private readonly now: Now;
  private readonly questions: Questions;
  private readonly listeners: ((commit: Commit) => void)[] = [];
  private readonly batchListeners: ((family: IpFamily, isTaken: boolean) => void)[] = [];
  private last = 1;

  constructor(private readonly options: NfTablesOptions) {
    const [major = 0, minor = 0] = (options.release ?? '6.18').split(/[.-]/).map(Number);
    this.context = { tables: new Map(), release: major * 100 + minor, lastTableHandle: 0 };
    this.now = { generation: () => this.last, time: options.now };
    this.questions = new Questions(this.context, this.now, (family) => this.keptElsewhere(family));
  }

  /** The number of the last transaction that changed something. */
  get generation(): number {
    return this.last;
  }

  /** Calls back after each transaction that changed something. */
  onCommit(listener: (commit: Commit) => void): void {
    this.listeners.push(listener);
  }

  /** Calls back after each batch that came over a socket: it is about tables of this family, and taken or refused. */
  onBatch(listener: (family: IpFamily, isTaken: boolean) => void): void {
    this.batchListeners.push(listener);
  }

  /** What the next batches meet. */
  refuseNext(fault: Fault): void {
    this.faults.refuseNext(fault);
  }

  /** A table as the kernel has it: to read, not to change. */
  view(family: number, name: string): Table | undefined {
    return this.context.tables.get(tableId(family, name));
  }

  /** All tables of all programs. */
  get tables(): Iterable<Table> {
    return this.context.tables.values();
  }

  handle(socket: KernelSocket, bytes: Buffer): void {
    if (bytes.length >= HEADER && bytes.readUInt16LE(4) === BATCH_BEGIN) this.batch(socket, bytes);
    else answerEach(socket, bytes, (request) => this.questions.answer(socket, messageOf(request)));
  }

  closed(): void {
    this.version++;
  }

  /** A batch of another program of the machine, from its beginning message to its end. Returns the errors, none if it is committed. */
  transact(process: number, batch: Buffer): readonly number[] {
    const { committed, answers } = new Batch(this.context, batch, this.options.now(), []).run();
    if (committed) {
      this.advance(committed.changed);
      this.tellAll(process, process, 0);
      this.tellListeners(process, committed.changed);
    }
    return answers.map(({ errno }) => errno).filter((errno) => errno !== 0);
  }

  /** A process made a transaction whose content is kept elsewhere. */
  touch(process: number, name: string): void {
    this.advance([]);
    this.tellAll(process, process, 0, name);
    this.tellListeners(process, []);
  }

  private batch(socket: KernelSocket, bytes: Buffer): void {
    const begin = requestAt(bytes, 0);
    if (!begin) return;
    const subsystem = begin.payload.readUInt16BE(2);
    const expected = begin.attributes(4).be32(BATCH_GENID) ?? 0;
    if (subsystem !== SUBSYSTEM) return acknowledge(socket, begin, { errno: E.EOPNOTSUPP });
    if (expected !== 0 && expected !== this.last) return acknowledge(socket, begin, { errno: ERESTART });
    this.batches++;
    if (this.faults.takeLoss()) socket.lose();
    const outcome = new Batch(this.context, bytes, this.options.now(), this.faults.take(bytes)).run();
    const { committed, answers } = outcome;
    if (committed) this.tellSender(socket, bytes, outcome, committed);
    for (const { request, ...answer } of answers) acknowledge(socket, request, answer);
    if (committed) this.tellListeners(socket.process, committed.changed);
    const family = bytes[begin.end + HEADER] === FAMILY.IP6 ? 'IPv6' : 'IPv4';
    const isTaken = answers.every(({ errno }) => errno === 0);
    for (const listener of this.batchListeners) listener(family, isTaken);
  }

  private tellSender(
    socket: KernelSocket,
    bytes: Buffer,
    { notices }: BatchOutcome,
    { changed }: Transaction,
  ): void {
    this.advance(changed);
    const { port, process } = socket;
    const { release } = this.context;
    for (const notice of notices) {
      const isOfElement = notice.kind === MSG.NEWSETELEM || notice.kind === MSG.DELSETELEM;
      const isNumbered = release < FIRST_WITH_UNNUMBERED_ELEMENTS || !isOfElement;
      const to = { port, sequence: isNumbered ? notice.sequence : 0 };
      socket.deliver(noticeMessage(to, notice, this.now, release));
    }
    const first = requestAt(bytes, aligned(bytes.readUInt32LE(0)));
    const to = { port, sequence: first?.sequence ?? 0 };
    if (first?.has(NLM_F.ECHO) === true) socket.deliver(generationMessage(to, this.last, process));
    this.tellAll(process, port, to.sequence);
  }

  /** The kernel skips 0. */
  private advance(changed: Iterable<Table>): void {
    this.version++;
    this.last = (this.last + 1) >>> 0 || 1;
    for (const table of changed) table.changedAt = this.last;
  }

  /** Of what is in a transaction nobody is told but its sender: listeners are told its number. */
  private tellAll(process: number, port: number, sequence: number, name?: string): void {
    this.options.multicast?.(GROUP, generationMessage({ port, sequence }, this.last, process, name));
  }

  private tellListeners(process: number, tables: Iterable<Table>): void {
    const names: Readonly<Record<number, string>> = { 1: 'inet', 2: 'ip', 10: 'ip6' };
    const changed = new Set([...tables].map(({ family, name }) => `${names[family] ?? family} ${name}`));
    for (const listener of this.listeners) listener({ process, changed });
  }

  private keptElsewhere(family: number): readonly Table[] {
    if (family !== FAMILY.IP && family !== FAMILY.IP6) return [];
    const tables = new Map<string, Table>();
    for (const { table, chain } of this.options.keptElsewhere?.(family === FAMILY.IP ? 'IPv4' : 'IPv6') ??
      []) {
      const known = getOrMake(tables, table, () => newTable(family, table));
      const handle = ++known.lastHandle;
      const empty = { base: undefined, userdata: undefined, rules: [], jumps: 0 };
      known.chains.set(chain, { table: known, name: chain, handle, ...empty });
    }
    return [...tables.values()];
  }
}
