import { E, NLMSG, NLM_F } from '../../netlink/numbers.js';
import { Refusal, within } from '../../netlink/attributes.js';
import { deleteChain, newChain } from './chains.js';
import { messageAt, type Context, type Message } from '../context.js';
import { deleteCounter, newCounter } from './counters.js';
import { deleteElements, newElements } from './elements.js';
import type { Fault } from '../faults.js';
import { BATCH_BEGIN, BATCH_END, ELEMENTS, MSG, SUBSYSTEM } from '../numbers.js';
import { tableId } from '../objects.js';
import { look } from './reach.js';
import { deleteRules, newRule } from './rules.js';
import { deleteSet, newSet } from './sets.js';
import { deleteTable, newTable } from './tables.js';
import { Transaction, type Notice } from './transaction.js';

/** What the kernel says to a message of a batch: an acknowledgement if there is no error. */
export interface Answer {
  /** Where the message begins in the batch. */
  readonly start: number;
  readonly errno: number;
  /** The offending attribute, in bytes from there. */
  readonly offset?: number;
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
  [MSG.NEWTABLE]: newTable,
  [MSG.DELTABLE]: deleteTable,
  [MSG.NEWCHAIN]: newChain,
  [MSG.DELCHAIN]: deleteChain,
  [MSG.NEWRULE]: newRule,
  [MSG.DELRULE]: deleteRules,
  [MSG.NEWSET]: newSet,
  [MSG.DELSET]: deleteSet,
  [MSG.NEWSETELEM]: newElements,
  [MSG.DELSETELEM]: deleteElements,
  [MSG.NEWOBJ]: newCounter,
  [MSG.DELOBJ]: deleteCounter,
};
/** Since Linux 6.3. */
const DESTROY: Readonly<Record<number, Work>> = {
  [MSG.DESTROYTABLE]: deleteTable,
  [MSG.DESTROYCHAIN]: deleteChain,
  [MSG.DESTROYRULE]: deleteRules,
  [MSG.DESTROYSET]: deleteSet,
  [MSG.DESTROYSETELEM]: deleteElements,
  [MSG.DESTROYOBJ]: deleteCounter,
};
const FIRST_WITH_DESTROY = 603;
/** Since then the messages around a batch can be acknowledged. */
const FIRST_WITH_FRAME_ANSWERS = 610;
/** Every kind of message names its table by the same attribute. */
const TABLE_OF_EACH = 1;
/** What can be refused for what is in it. */
const ADDING: readonly number[] = [MSG.NEWTABLE, MSG.NEWCHAIN, MSG.NEWRULE, MSG.NEWSET, MSG.NEWSETELEM];
/** After which messages a table is looked at, if it must be each time. */
const LOOKED_AT_AFTER: readonly number[] = [MSG.NEWRULE, MSG.NEWSETELEM];

/** One batch of messages: a transaction, if it is complete and nothing in it is refused. */
export class Batch {
  private answers: Answer[] = [];
  private notices: (Notice & { readonly sequence: number })[] = [];

  constructor(
    private readonly context: Context,
    /** From the message that begins it on. */
    private readonly bytes: Buffer,
    private readonly port: number,
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
    const { context } = this;
    const transaction = new Transaction(this.port, this.now, isWary);
    this.answers = [];
    this.notices = [];
    const { first, isComplete, isRefused, endsAt } = this.workThrough(transaction);
    let errno = isRefused ? 0 : this.errorAtEnd(transaction);
    if (errno === 0 && !isRefused && !lookAtAll(context)) {
      if (!isWary) {
        transaction.backTo(0);
        return undefined;
      }
      errno = E.EINVAL;
    }
    if (isRefused || errno !== 0 || !isComplete) {
      transaction.backTo(0);
      if (errno !== 0 && isComplete) this.answers.unshift({ start: first, errno });
      return { answers: this.answers, notices: [] };
    }
    if (endsAt !== undefined && this.wantsAnswer(endsAt)) this.answers.push({ start: endsAt, errno: 0 });
    transaction.end();
    return {
      answers: this.answers,
      notices: this.notices,
      ...(transaction.hasEffect && { committed: transaction }),
    };
  }

  private workThrough(transaction: Transaction): {
    readonly first: number;
    readonly isComplete: boolean;
    readonly isRefused: boolean;
    readonly endsAt?: number;
  } {
    const { bytes } = this;
    const first = aligned(bytes.readUInt32LE(0));
    if (this.wantsAnswer(0)) this.answers.push({ start: 0, errno: 0 });
    const whole = this.faults.find(({ containing }) => containing === undefined);
    if (whole) return this.given(first, whole.errno);
    let isRefused = false;
    for (let start = first; start + 16 <= bytes.length;) {
      const message = messageAt(bytes, start);
      const type = bytes.readUInt16LE(start + 4);
      if (!message || type === BATCH_BEGIN) return { first, isComplete: false, isRefused: true };
      if (type === BATCH_END) return { first, isComplete: true, isRefused, endsAt: start };
      const errno = this.work(transaction, message, type);
      if (errno === E.ENOMEM) return this.given(first, errno);
      if (errno !== 0) isRefused = true;
      start += aligned(message.end - start);
    }
    return { first, isComplete: false, isRefused };
  }

  /** All that the kernel says is that the batch is refused. */
  private given(first: number, errno: number) {
    this.answers = [{ start: first, errno }];
    return { first, isComplete: false, isRefused: true };
  }

  /** The error of a message, which is noted; 0 if there is none. */
  private work(transaction: Transaction, message: Message, type: number): number {
    const { start, flags } = message;
    const wantsNotice = (flags & NLM_F.ECHO) !== 0;
    transaction.notices = wantsNotice ? [] : undefined;
    try {
      if ((flags & NLM_F.REQUEST) === 0 || type < NLMSG.MIN_TYPE || type >> 8 !== SUBSYSTEM)
        throw new Refusal(E.EINVAL);
      const destroy = this.context.release >= FIRST_WITH_DESTROY ? DESTROY[message.kind] : undefined;
      const work = WORK[message.kind] ?? destroy;
      if (!work) throw new Refusal(E.EINVAL);
      for (const fault of this.faults) lookFor(fault, message);
      work(this.context, transaction, message);
      if (LOOKED_AT_AFTER.includes(message.kind)) this.lookEachTime(message);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { errno, at } = error;
      this.answers.push({ start, errno, ...(at !== undefined && { offset: at - start }) });
      return errno;
    }
    if ((flags & NLM_F.ACK) !== 0) this.answers.push({ start, errno: 0 });
    for (const notice of transaction.notices ?? [])
      this.notices.push({ ...notice, sequence: message.sequence });
    return 0;
  }

  private lookEachTime({ family, attributes }: Message): void {
    const table = this.context.tables.get(tableId(family, attributes.text(TABLE_OF_EACH)!));
    if (table?.validation === 'each time') look(table);
  }

  private errorAtEnd({ unbound }: Transaction): number {
    return unbound.size > 0 ? E.EINVAL : 0;
  }

  private wantsAnswer(start: number): boolean {
    const isKnown = this.context.release >= FIRST_WITH_FRAME_ANSWERS;
    return isKnown && (this.bytes.readUInt16LE(start + 6) & NLM_F.ACK) !== 0;
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
function lookFor({ containing, errno }: Fault, { bytes, start, end, attributes, kind }: Message): void {
  if (containing === undefined || !ADDING.includes(kind)) return;
  const found = start + bytes.subarray(start, end).indexOf(containing);
  if (found < start) return;
  const list = kind === MSG.NEWSETELEM ? attributes.at(ELEMENTS.LIST) : undefined;
  for (const at of list === undefined ? [] : within(bytes, list))
    if (found < at + bytes.readUInt16LE(at)) throw new Refusal(errno, at);
  throw new Refusal(errno);
}

function aligned(length: number): number {
  return (length + 3) & ~3;
}
