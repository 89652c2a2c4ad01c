import type { FindElement } from '../../../../src/diagnostics/domain/nftables/elements.js';
import { getOrMake } from '../../../../src/domain/model/maps.js';
import type { IpFamily } from '../../../../src/domain/net/ip-family.js';
import type { KernelTable } from '../../../../src/domain/nftables/kernel/ruleset.js';
import {
  acknowledge,
  requestAt,
  type KernelSocket,
  type Multicast,
  type NetlinkProtocol,
} from '../netlink/requests.js';
import { E, NLMSG, NLM_F } from '../netlink/numbers.js';
import { Refusal } from '../netlink/attributes.js';
import { Batch, type Answer, type BatchOutcome } from './changes/batch.js';
import { messageAt, type Context, type Message } from './context.js';
import { addRemembered } from './changes/elements.js';
import { Faults, type Fault } from './faults.js';
import { generationMessage, noticeMessage } from './notices.js';
import { BATCH_BEGIN, BATCH_GENID, FAMILY, GROUP, MSG, SUBSYSTEM, TABLE_FLAG } from './numbers.js';
import { emptyTable, tableId, type Table } from './objects.js';
import { KernelTables } from './reading/kernel-tables.js';
import { Questions } from './reading/questions.js';
import type { Notice, Transaction } from './changes/transaction.js';

const ERESTART = 85;
const HEADER = 16;
/** Since then what tells of an element does not say which message it comes from. */
const FIRST_WITH_UNNUMBERED_ELEMENTS = 613;
/** The kernel's numbers for families of tables. */
export const FAMILIES = { inet: FAMILY.INET, ip: FAMILY.IP, ip6: FAMILY.IP6 } as const;

/** Of tables that packets of one IP family meet. */
type IpTables = 'ip' | 'ip6';

/** A transaction that was committed. */
export interface Commit {
  /** The number of the process that made it. */
  readonly process: number;
  readonly generation: number;
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
  /** The name of a process, such as `node`. */
  readonly nameOf?: (process: number) => string;
}

/** nf_tables of the simulated kernel: the part of NETLINK_NETFILTER that has to do with it, and batches. */
export class NfTables implements NetlinkProtocol {
  /** Another one as soon as packets may meet something else, but for elements whose time is over. */
  version = 0;
  readonly faults = new Faults();
  private readonly context: Context;
  private readonly questions: Questions;
  private readonly listeners: ((commit: Commit) => void)[] = [];
  private readonly batchListeners: ((family: IpFamily, isTaken: boolean) => void)[] = [];
  private readonly read: KernelTables;
  private met = { version: Number.NaN, tables: new Map<IpTables, readonly KernelTable[]>() };
  private last = 1;
  private sent = 0;

  constructor(private readonly options: NfTablesOptions) {
    this.context = {
      tables: new Map(),
      release: releaseNumber(options.release ?? '6.18'),
      lastTableHandle: 0,
    };
    this.read = new KernelTables(options.now);
    const now = { generation: () => this.last, time: options.now };
    this.questions = new Questions(
      this.context,
      now,
      (process) => this.nameOf(process),
      (family) => this.keptElsewhere(family),
    );
  }

  /** The number of the last transaction that changed something. */
  get generation(): number {
    return this.last;
  }

  /** How many batches came over sockets, whatever became of them. */
  get batches(): number {
    return this.sent;
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

  /** A table as the program would read it; undefined if there is none, or if it is switched off. */
  kernelTable(family: KernelTable['family'], name: string): KernelTable | undefined {
    const table = this.view(FAMILIES[family], name);
    return table && this.read.read(table);
  }

  /** Those that packets of an IP family meet, of all programs. The same object until packets may meet something else. */
  kernelTables(family: IpTables): readonly KernelTable[] {
    if (this.met.version !== this.version) this.met = { version: this.version, tables: new Map() };
    return getOrMake(this.met.tables, family, () => {
      const met: readonly number[] = [FAMILIES[family], FAMILIES.inet];
      return [...this.tables].flatMap((table) =>
        met.includes(table.family) ? (this.read.read(table) ?? []) : [],
      );
    });
  }

  /** Finds elements of tables that were read. */
  get findElement(): FindElement {
    return this.read.find;
  }

  /**
   * A rule has added an element that times out, or restarts its time, as packets make it do: no transaction.
   * @param timeout milliseconds
   * @returns false where there is no such set, or no room in it
   */
  remember(family: KernelTable['family'], table: string, set: string, key: Buffer, timeout: number): boolean {
    const found = this.view(FAMILIES[family], table)?.sets.get(set);
    this.version++;
    return found !== undefined && addRemembered(found, key, timeout, this.options.now());
  }

  handle(socket: KernelSocket, bytes: Buffer): void {
    if (bytes.length >= HEADER && bytes.readUInt16LE(4) === BATCH_BEGIN) this.batch(socket, bytes);
    else this.ask(socket, bytes);
  }

  closed({ port }: KernelSocket): void {
    this.version++;
    const { tables } = this.context;
    for (const [id, table] of tables) {
      if (table.owner !== port) continue;
      table.owner = undefined;
      if ((table.flags & TABLE_FLAG.PERSIST) === 0) tables.delete(id);
      table.flags &= ~TABLE_FLAG.OWNER;
    }
  }

  /** A batch of another program of the machine, from its beginning message to its end. Returns the errors, none if it is committed. */
  transact(process: number, batch: Buffer): readonly number[] {
    const outcome = new Batch(this.context, batch, process, this.options.now(), []).run();
    if (outcome.committed) this.commit(process, process, outcome.committed, 0);
    return outcome.answers.map(({ errno }) => errno).filter((errno) => errno !== 0);
  }

  /** A process made a transaction whose content is kept elsewhere. */
  touch(process: number, name: string): void {
    this.advance([]);
    this.tellAll(process, process, 0, name);
    this.tellListeners(process, new Set());
  }

  private batch(socket: KernelSocket, bytes: Buffer): void {
    const begin = messageAt(bytes, 0);
    if (!begin) return;
    const refuse = (errno: number): void => answer(socket, bytes, { start: 0, errno });
    const subsystem = bytes.readUInt16BE(HEADER + 2);
    if (subsystem !== SUBSYSTEM && bytes.readUInt16LE(HEADER + 2) !== SUBSYSTEM) return refuse(E.EOPNOTSUPP);
    const expected = begin.attributes.be32(BATCH_GENID) ?? 0;
    if (expected !== 0 && expected !== this.last) return refuse(ERESTART);
    this.sent++;
    if (this.faults.takeLoss()) socket.lose();
    const faults = this.faults.take(socket.process, bytes);
    const outcome = new Batch(this.context, bytes, socket.port, this.options.now(), faults).run();
    if (outcome.committed) this.tellSender(socket, bytes, outcome, outcome.committed);
    for (const one of outcome.answers) answer(socket, bytes, one);
    if (outcome.committed) this.tellListeners(socket.process, changedIn(outcome.committed));
    const family = bytes[begin.end + HEADER] === FAMILY.IP6 ? 'IPv6' : 'IPv4';
    const isTaken = outcome.answers.every(({ errno }) => errno === 0);
    for (const listener of this.batchListeners) listener(family, isTaken);
  }

  private tellSender(
    socket: KernelSocket,
    bytes: Buffer,
    outcome: BatchOutcome,
    transaction: Transaction,
  ): void {
    this.advance(transaction.changed);
    const { port, process } = socket;
    for (const notice of outcome.notices) {
      const isNumbered = this.context.release < FIRST_WITH_UNNUMBERED_ELEMENTS || !isOfElement(notice);
      const to = { port, sequence: isNumbered ? notice.sequence : 0 };
      socket.deliver(noticeMessage(to, notice, this.last, transaction.now, this.context.release));
    }
    const first = messageAt(bytes, (bytes.readUInt32LE(0) + 3) & ~3);
    const sequence = first?.sequence ?? 0;
    const wantsNumber = first !== undefined && (first.flags & NLM_F.ECHO) !== 0;
    if (wantsNumber)
      socket.deliver(generationMessage({ port, sequence }, this.last, process, this.nameOf(process)));
    this.tellAll(process, port, sequence, this.nameOf(process));
  }

  private commit(process: number, port: number, transaction: Transaction, sequence: number): void {
    this.advance(transaction.changed);
    this.tellAll(process, port, sequence, this.nameOf(process));
    this.tellListeners(process, changedIn(transaction));
  }

  /** The kernel skips 0. */
  private advance(changed: Iterable<Table>): void {
    this.version++;
    this.last = (this.last + 1) >>> 0 || 1;
    for (const table of changed) table.changedAt = this.last;
  }

  /** Of what is in a transaction nobody is told but its sender: listeners are told its number. */
  private tellAll(process: number, port: number, sequence: number, name: string): void {
    this.options.multicast?.(GROUP, generationMessage({ port, sequence }, this.last, process, name));
  }

  private tellListeners(process: number, changed: ReadonlySet<string>): void {
    for (const listener of this.listeners) listener({ process, generation: this.last, changed });
  }

  private keptElsewhere(family: number): readonly Table[] {
    const { keptElsewhere } = this.options;
    if (!keptElsewhere || (family !== FAMILY.IP && family !== FAMILY.IP6)) return [];
    const tables = new Map<string, Table>();
    for (const { table, chain } of keptElsewhere(family === FAMILY.IP ? 'IPv4' : 'IPv6')) {
      const known = tables.get(table) ?? emptyTable(family, table);
      tables.set(table, known);
      const handle = ++known.lastHandle;
      known.chains.set(chain, {
        table: known,
        name: chain,
        handle,
        base: undefined,
        userdata: undefined,
        rules: [],
        jumps: 0,
      });
    }
    return [...tables.values()];
  }

  private nameOf(process: number): string {
    return this.options.nameOf?.(process) ?? 'node';
  }

  private ask(socket: KernelSocket, bytes: Buffer): void {
    for (let start = 0; start + HEADER <= bytes.length;) {
      const length = bytes.readUInt32LE(start);
      if (length < HEADER || start + length > bytes.length) return;
      const message = messageAt(bytes, start);
      if (message) this.askOne(socket, message);
      start += (length + 3) & ~3;
    }
  }

  private askOne(socket: KernelSocket, message: Message): void {
    const { bytes, start, flags } = message;
    const isForUs = (flags & NLM_F.REQUEST) !== 0 && bytes.readUInt16LE(start + 4) >= NLMSG.MIN_TYPE;
    try {
      if (isForUs && this.questions.answer(socket, message)) return;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { errno, at } = error;
      return answer(socket, bytes, { start, errno, ...(at !== undefined && { offset: at - start }) });
    }
    if ((flags & NLM_F.ACK) !== 0) answer(socket, bytes, { start, errno: 0 });
  }
}

function isOfElement({ message }: Notice): boolean {
  return message === MSG.NEWSETELEM || message === MSG.DELSETELEM;
}

function answer(socket: KernelSocket, bytes: Buffer, { start, errno, offset }: Answer): void {
  const at = offset === undefined ? {} : { at: start + offset };
  acknowledge(socket, requestAt(bytes, start)!, { errno, ...at });
}

function changedIn({ changed }: Transaction): ReadonlySet<string> {
  const names: Readonly<Record<number, string>> = {
    1: 'inet',
    2: 'ip',
    3: 'arp',
    5: 'netdev',
    7: 'bridge',
    10: 'ip6',
  };
  return new Set([...changed].map(({ family, name }) => `${names[family] ?? family} ${name}`));
}

/** Of `6.18.0-1` 618. */
function releaseNumber(release: string): number {
  const [major = 0, minor = 0] = release.split(/[.-]/).map(Number);
  return major * 100 + minor;
}
