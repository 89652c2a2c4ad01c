import { Refusal, within } from '../netlink/attributes.js';
import { aligned, E, HEADER, NLM_F } from '../netlink/numbers.js';
import { requestAt, type Request } from '../netlink/requests.js';
import * as nf from './numbers.js';
import { messageOf, tableOf, type Context, type Message } from './objects.js';
import { look } from './reach.js';
import { deleteElements, deleteSet, newElements, newSet } from './sets.js';
import {
  addChain,
  addCounter,
  addRule,
  addTable,
  deleteChain,
  deleteCounter,
  deleteRules,
  deleteTable,
} from './tables-and-chains.js';
import { Transaction, type Notice } from './transaction.js';

/** A refusal that has nothing to do with what is in a batch, or a batch whose content the kernel does not like. */
export interface Fault {
  readonly errno: number;
  /** How many batches. */
  readonly count: number;
  /** Only batches that add something with these bytes or this text in it: the message is blamed, and the element. */
  readonly containing?: string | Buffer;
}

/** What the kernel says to a message of a batch: an acknowledgement if there is no error. */
interface Answer {
  readonly request: Request;
  readonly errno: number;
  /** Where the offending attribute begins. */
  readonly at?: number;
}

/** What came of a batch. */
export interface BatchOutcome {
  readonly answers: readonly Answer[];
  /** The transaction, if it was committed and changed anything. */
  readonly committed?: Transaction;
  /** What the messages did whose sender wants to hear of it. */
  readonly notices: readonly (Notice & { readonly sequence: number })[];
}

type Work = (context: Context, transaction: Transaction, message: Message) => void;

const WORK: Readonly<Record<number, Work>> = {
  [nf.MSG.NEWTABLE]: addTable,
  [nf.MSG.DELTABLE]: deleteTable,
  [nf.MSG.NEWCHAIN]: addChain,
  [nf.MSG.DELCHAIN]: deleteChain,
  [nf.MSG.NEWRULE]: addRule,
  [nf.MSG.DELRULE]: deleteRules,
  [nf.MSG.NEWSET]: newSet,
  [nf.MSG.DELSET]: deleteSet,
  [nf.MSG.NEWSETELEM]: newElements,
  [nf.MSG.DELSETELEM]: deleteElements,
  [nf.MSG.NEWOBJ]: addCounter,
  [nf.MSG.DELOBJ]: deleteCounter,
};
/** Since Linux 6.10 the messages around a batch can be acknowledged. */
const FIRST_WITH_FRAME_ANSWERS = 610;
/** What can be refused for what is in it. */
const ADDING: readonly number[] = [
  nf.MSG.NEWTABLE,
  nf.MSG.NEWCHAIN,
  nf.MSG.NEWRULE,
  nf.MSG.NEWSET,
  nf.MSG.NEWSETELEM,
];
/** After which messages a table is looked at, if it must be each time. */
const LOOKED_AT_AFTER: readonly number[] = [nf.MSG.NEWRULE, nf.MSG.NEWSETELEM];

/** One batch of messages: a transaction, if it is complete and nothing in it is refused. */
export class Batch {
  private answers: Answer[] = [];
  private notices: (Notice & { readonly sequence: number })[] = [];

  constructor(
    private readonly context: Context,
    /** From the message that begins it on. */
    private readonly bytes: Buffer,
    private readonly now: number,
    private readonly faults: readonly Fault[],
  ) {}

  /**
   * Works on the messages, all of them also where one is refused. Where what hooks lead to is found wrong at the end, it is done once
   * more, looking after each message, so that the message is found that made it wrong.
   */
  run(): BatchOutcome {
    const outcome = this.attempt(false) ?? this.attempt(true)!;
    for (const table of this.context.tables.values()) table.validation = 'skip';
    return outcome;
  }

  private attempt(isWary: boolean): BatchOutcome | undefined {
    const transaction = new Transaction(this.now, isWary);
    this.answers = [];
    this.notices = [];
    const begin = requestAt(this.bytes, 0)!;
    const first = requestAt(this.bytes, aligned(begin.end)) ?? begin;
    const end = this.workThrough(transaction, begin, first);
    const isRefused = end === 'refused';
    let errno = !isRefused && transaction.unbound.size > 0 ? E.EINVAL : 0;
    if (errno === 0 && !isRefused && !lookAtAll(this.context)) {
      if (!isWary) {
        transaction.backTo(0);
        return undefined;
      }
      errno = E.EINVAL;
    }
    if (typeof end === 'string' || errno !== 0) {
      transaction.backTo(0);
      if (errno !== 0 && typeof end !== 'string') this.answers.unshift({ request: first, errno });
      return { answers: this.answers, notices: [] };
    }
    this.answerFrame(end);
    transaction.end();
    const { answers, notices } = this;
    return { answers, notices, ...(transaction.hasEffect && { committed: transaction }) };
  }

  /** @returns the message that ends the batch */
  private workThrough(
    transaction: Transaction,
    begin: Request,
    first: Request,
  ): Request | 'refused' | 'incomplete' {
    this.answerFrame(begin);
    const whole = this.faults.find(({ containing }) => containing === undefined);
    if (whole) return this.refuseAll(first, whole.errno);
    let isRefused = false;
    for (let start = first.start; start + HEADER <= this.bytes.length;) {
      const request = requestAt(this.bytes, start);
      if (!request || request.payload.length < 4 || request.type === nf.BATCH_BEGIN) return 'refused';
      if (request.type === nf.BATCH_END) return isRefused ? 'refused' : request;
      const errno = this.work(transaction, request);
      if (errno === E.ENOMEM) return this.refuseAll(first, errno);
      isRefused ||= errno !== 0;
      start += aligned(request.end - start);
    }
    return isRefused ? 'refused' : 'incomplete';
  }

  /** All that the kernel says is that the batch is refused. */
  private refuseAll(first: Request, errno: number): 'refused' {
    this.answers = [{ request: first, errno }];
    return 'refused';
  }

  /** The error of a message, which is noted; 0 if there is none. */
  private work(transaction: Transaction, request: Request): number {
    transaction.notices = request.has(NLM_F.ECHO) ? [] : undefined;
    try {
      const message = messageOf(request);
      const { kind } = message;
      const work = WORK[kind];
      if (!request.isForKernel || request.type >> 8 !== nf.SUBSYSTEM || !work) throw new Refusal(E.EINVAL);
      for (const fault of this.faults) lookFor(fault, message);
      work(this.context, transaction, message);
      if (LOOKED_AT_AFTER.includes(kind)) {
        const table = tableOf(this.context, message);
        if (table.validation === 'each time') look(table);
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { errno, at } = error;
      this.answers.push({ request, errno, ...(at !== undefined && { at }) });
      return errno;
    }
    if (request.has(NLM_F.ACK)) this.answers.push({ request, errno: 0 });
    for (const notice of transaction.notices ?? [])
      this.notices.push({ ...notice, sequence: request.sequence });
    return 0;
  }

  private answerFrame(request: Request): void {
    if (this.context.release >= FIRST_WITH_FRAME_ANSWERS && request.has(NLM_F.ACK))
      this.answers.push({ request, errno: 0 });
  }
}

/** Looks at the tables of which something must be looked at. Returns whether all is right. */
function lookAtAll({ tables }: Context): boolean {
  for (const table of tables.values()) {
    if (table.validation === 'skip') continue;
    table.validation = 'each time';
    try {
      look(table);
    } catch (error) {
      if (error instanceof Refusal) return false;
      throw error;
    }
    table.validation = 'skip';
  }
  return true;
}

/** @throws Refusal for a message that has in it what the fault is about, naming the element */
function lookFor({ containing, errno }: Fault, { request, attributes, kind }: Message): void {
  const { bytes, start, end } = request;
  const found = containing === undefined ? -1 : bytes.subarray(start, end).indexOf(containing);
  if (found < 0 || !ADDING.includes(kind)) return;
  const list = kind === nf.MSG.NEWSETELEM ? attributes.at(nf.ELEMENTS.LIST) : undefined;
  throw new Refusal(
    errno,
    within(bytes, list).find((at) => start + found < at + bytes.readUInt16LE(at)),
  );
}
