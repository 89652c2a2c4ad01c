import { Refusal, within } from '../netlink/attributes.js';
import { MessageBuilder } from '../netlink/message-builder.js';
import { E, NLM_F, NLMSG } from '../netlink/numbers.js';
import { DUMPING, type KernelSocket } from '../netlink/requests.js';
import * as nf from './numbers.js';
import {
  isFlagged,
  tableId,
  tableOf,
  type Chain,
  type Context,
  type Counter,
  type Element,
  type Message,
  type NftSet,
  type Rule,
  type Table,
} from './objects.js';
import { findElement, setOf } from './sets.js';
import type { Notice } from './transaction.js';

/* How the kernel tells of what it keeps: the attributes of each message, in its order. */

/** How something is told of. */
interface Telling {
  /** Only what names it. */
  readonly isGone: boolean;
  readonly isListed: boolean;
  /** Of the kernel. */
  readonly release: number;
}

function putTable(builder: MessageBuilder, table: Table, { isGone }: Telling): void {
  const { name, handle, userdata, chains, sets, counters } = table;
  // Sets without a name belong to the rules that look into them.
  const namedSets = [...sets.values()].filter((set) => !isFlagged(set, nf.SET_FLAG.ANONYMOUS));
  builder.text(nf.TABLE.NAME, name).be64(nf.TABLE.HANDLE, handle);
  builder.be32(nf.TABLE.USE, isGone ? 0 : chains.size + namedSets.length + counters.size);
  if (!isGone) builder.be32(nf.TABLE.FLAGS, 0).attribute(nf.TABLE.USERDATA, userdata);
}

function putChain(builder: MessageBuilder, chain: Chain, { isGone }: Telling): void {
  const { table, name, handle, base, rules, jumps, userdata } = chain;
  builder.text(nf.CHAIN.TABLE, table.name).text(nf.CHAIN.NAME, name).be64(nf.CHAIN.HANDLE, handle);
  if (isGone) return;
  if (base) {
    const { hook, priority, policy, type } = base;
    builder.plainNest(nf.CHAIN.HOOK, () =>
      builder.be32(nf.HOOK.NUMBER, hook).be32(nf.HOOK.PRIORITY, priority),
    );
    builder.be32(nf.CHAIN.POLICY, policy).text(nf.CHAIN.TYPE, type).be32(nf.CHAIN.FLAGS, nf.CHAIN_FLAG.BASE);
  }
  builder.be32(nf.CHAIN.USE, rules.length + jumps).attribute(nf.CHAIN.USERDATA, userdata);
}

function putRule(builder: MessageBuilder, rule: Rule, { isListed }: Telling): void {
  const { chain, handle, dumped, userdata } = rule;
  builder.text(nf.RULE.TABLE, chain.table.name).text(nf.RULE.CHAIN, chain.name).be64(nf.RULE.HANDLE, handle);
  const before = isListed ? chain.rules[chain.rules.indexOf(rule) - 1] : undefined;
  builder.be64(nf.RULE.POSITION, before?.handle).attribute(nf.RULE.EXPRESSIONS, dumped);
  builder.attribute(nf.RULE.USERDATA, userdata);
}

function putSet(builder: MessageBuilder, set: NftSet, { isGone, release }: Telling): void {
  builder.text(nf.SET.TABLE, set.table.name).text(nf.SET.NAME, set.name).be64(nf.SET.HANDLE, set.handle);
  if (isGone) return;
  builder.be32(nf.SET.FLAGS, unlessZero(set.flags));
  builder.be32(nf.SET.KEY_TYPE, set.keyType).be32(nf.SET.KEY_LEN, set.keyLength);
  if (isFlagged(set, nf.SET_FLAG.MAP))
    builder.be32(nf.SET.DATA_TYPE, set.dataType).be32(nf.SET.DATA_LEN, set.dataLength);
  builder.be64(nf.SET.TIMEOUT, unlessZero(set.timeout)).attribute(nf.SET.USERDATA, set.userdata);
  builder.plainNest(nf.SET.DESC, () => builder.be32(nf.DESC.SIZE, unlessZero(set.size)));
  // Since Linux 6.16 they tell how many elements it has; of ranges, which are two elements, the number of pairs.
  const { size } = set.elements;
  const count = isFlagged(set, nf.SET_FLAG.INTERVAL) ? Math.floor(size / 2) : size;
  builder.be32(nf.SET.COUNT, release >= 616 ? count : undefined);
}

function unlessZero(value: number): number | undefined {
  return value === 0 ? undefined : value;
}

/** A message about elements of a set, whose list `put` fills. */
function putElements(builder: MessageBuilder, set: NftSet, put: () => void): void {
  builder.text(nf.ELEMENTS.TABLE, set.table.name).text(nf.ELEMENTS.SET, set.name);
  builder.plainNest(nf.ELEMENTS.LIST, put);
}

const elementBuilder = new MessageBuilder();

function putElement(builder: MessageBuilder, set: NftSet, element: Element, now: number): void {
  if (isFlagged(set, nf.SET_FLAG.TIMEOUT))
    return void builder.plainNest(nf.LIST_ELEM, () => putElementParts(builder, set, element, now));
  if (!element.listed) {
    putElementParts(elementBuilder, set, element, now);
    element.listed = elementBuilder.take();
  }
  builder.attribute(nf.LIST_ELEM, element.listed);
}

function putElementParts(builder: MessageBuilder, set: NftSet, element: Element, now: number): void {
  const { key, value, verdict, flags, timeout, expires, userdata } = element;
  if (key) builder.plainNest(nf.ELEMENT.KEY, () => builder.attribute(nf.DATA.VALUE, key));
  if (value) builder.plainNest(nf.ELEMENT.DATA, () => builder.attribute(nf.DATA.VALUE, value));
  if (verdict) {
    const putVerdict = () =>
      builder.be32(nf.VERDICT.CODE, verdict.code).text(nf.VERDICT.CHAIN, verdict.chain?.name);
    builder.plainNest(nf.ELEMENT.DATA, () => builder.plainNest(nf.DATA.VERDICT, putVerdict));
  }
  builder.be32(nf.ELEMENT.FLAGS, unlessZero(flags));
  const isEnd = (flags & nf.ELEMENT_FLAG.INTERVAL_END) !== 0;
  if (isFlagged(set, nf.SET_FLAG.TIMEOUT) && !isEnd && timeout !== set.timeout)
    builder.be64(nf.ELEMENT.TIMEOUT, timeout);
  if (timeout !== 0) builder.be64(nf.ELEMENT.EXPIRATION, Math.max(0, Math.round(expires - now)));
  builder.attribute(nf.ELEMENT.USERDATA, userdata);
}

function putCounter(builder: MessageBuilder, counter: Counter, { isGone }: Telling): void {
  const { table, name, handle, uses, userdata } = counter;
  builder.text(nf.OBJECT.TABLE, table.name).text(nf.OBJECT.NAME, name).be64(nf.OBJECT.HANDLE, handle);
  builder.be32(nf.OBJECT.TYPE, nf.OBJECT_COUNTER);
  if (isGone) return;
  const putData = () => builder.be64(nf.COUNTER.BYTES, 0).be64(nf.COUNTER.PACKETS, 0);
  builder
    .be32(nf.OBJECT.USE, uses)
    .plainNest(nf.OBJECT.DATA, putData)
    .attribute(nf.OBJECT.USERDATA, userdata);
}

/** Whom an answer is for. */
export interface Addressee {
  readonly port: number;
  readonly sequence: number;
}

/** The state that messages tell of. */
export interface Now {
  /** The number of the last transaction, of which each message has the lower half. */
  readonly generation: () => number;
  /** Milliseconds. */
  readonly time: () => number;
}

const builder = new MessageBuilder();

/** @param kind the lower byte of its type */
function message(
  { port, sequence }: Addressee,
  kind: number,
  family: number,
  generation: number,
  put: (builder: MessageBuilder) => void,
  flags = 0,
): Buffer {
  builder.begin((nf.SUBSYSTEM << 8) | kind, flags, sequence, port);
  builder.raw(Uint8Array.of(family, 0, (generation >>> 8) & 0xff, generation & 0xff));
  put(builder);
  return builder.end().take();
}

/** What tells of a transaction as a whole: its number, and who made it. */
export function generationMessage(to: Addressee, generation: number, process: number, name = 'node'): Buffer {
  return message(to, nf.MSG.NEWGEN, nf.FAMILY.ANY, generation, () =>
    builder.be32(nf.GEN.ID, generation).be32(nf.GEN.PROC_PID, process).text(nf.GEN.PROC_NAME, name),
  );
}

type Listed = Table | Chain | Rule | NftSet | Counter;

function tableWith(object: Listed): Table {
  if ('chain' in object) return object.chain.table;
  return 'table' in object ? object.table : object;
}

/** What is listed, and told of when it comes and goes. */
interface Kind {
  /** The message about one; the question for them has the next number, and the message that one is gone the one after. */
  readonly message: number;
  /** All of some tables, or of the chains of this name. */
  readonly all: (tables: readonly Table[], chain?: string) => readonly Listed[];
  readonly put: (builder: MessageBuilder, object: never, telling: Telling) => void;
}

const KINDS: readonly Kind[] = [
  { message: nf.MSG.NEWTABLE, all: (tables) => tables, put: putTable },
  {
    message: nf.MSG.NEWCHAIN,
    all: (tables) => tables.flatMap(({ chains }) => [...chains.values()]),
    put: putChain,
  },
  {
    message: nf.MSG.NEWRULE,
    all: (tables, only) =>
      tables
        .flatMap(({ chains }) => [...chains.values()])
        .flatMap(({ name, rules }) => (name === (only ?? name) ? rules : [])),
    put: putRule,
  },
  { message: nf.MSG.NEWSET, all: (tables) => tables.flatMap(({ sets }) => [...sets.values()]), put: putSet },
  {
    message: nf.MSG.NEWOBJ,
    all: (tables) => tables.flatMap(({ counters }) => [...counters.values()]),
    put: putCounter,
  },
];

/** What tells of one thing that a transaction did. */
export function noticeMessage(to: Addressee, { kind, object }: Notice, now: Now, release: number): Buffer {
  const tell = (table: Table, put: () => void): Buffer =>
    message(to, kind, table.family, now.generation(), put);
  if ('set' in object) {
    const { set, element } = object;
    return tell(set.table, () =>
      putElements(builder, set, () => putElement(builder, set, element, now.time())),
    );
  }
  const { message: made, put } = KINDS.find((its) => its.message === kind || its.message + 2 === kind)!;
  const telling = { isGone: kind !== made, isListed: false, release };
  return tell(tableWith(object), () => put(builder, object as never, telling));
}

/** Answers questions about what the kernel keeps. */
export class Questions {
  /** @param keptElsewhere tables of an IP family whose content is not here: their chains are listed as if they were empty */
  constructor(
    private readonly context: Context,
    private readonly now: Now,
    private readonly keptElsewhere: (family: number) => readonly Table[],
  ) {}

  /** @throws Refusal */
  answer(socket: KernelSocket, question: Message): typeof DUMPING | void {
    const { kind, request, attributes } = question;
    const { context, now } = this;
    const to: Addressee = { port: socket.port, sequence: request.sequence };
    if (kind === nf.MSG.GETGEN)
      return socket.deliver(generationMessage(to, now.generation(), socket.process));
    if (!request.isDump) {
      if (kind === nf.MSG.GETSETELEM) return this.elements(socket, to, question);
      if (kind !== nf.MSG.GETTABLE) throw new Refusal(E.EOPNOTSUPP);
      const notice = { kind: nf.MSG.NEWTABLE, object: tableOf(context, question) };
      return socket.deliver(noticeMessage(to, notice, now, context.release));
    }
    if (socket.isDumping) throw new Refusal(E.EBUSY);
    if (kind === nf.MSG.GETSETELEM) return this.dumpElements(socket, to, question);
    const listed = KINDS.find(({ message: its }) => its + 1 === kind);
    if (!listed) throw new Refusal(E.EINVAL);
    if (kind === nf.MSG.GETSET && attributes.has(nf.SET.TABLE)) tableOf(context, question);
    const chain = attributes.has(nf.RULE.TABLE) ? attributes.text(nf.RULE.CHAIN) : undefined;
    const all = () => listed.all(this.tablesFor(question), chain);
    socket.deliverLater(dumpOf(socket, to, now, listed, all, context.release));
    return DUMPING;
  }

  /** Those of which all is listed. Tables and chains are those of all tables, whatever table the question names. */
  private tablesFor({ kind, family, attributes }: Message): readonly Table[] {
    const isOfAll = kind === nf.MSG.GETTABLE || kind === nf.MSG.GETCHAIN;
    // Rules, sets and counters name their table by the same attribute.
    const only = isOfAll ? undefined : attributes.text(nf.RULE.TABLE);
    const here = [...this.context.tables.values()].filter(
      (table) => (family === nf.FAMILY.ANY || table.family === family) && table.name === (only ?? table.name),
    );
    return kind === nf.MSG.GETCHAIN ? [...here, ...this.keptElsewhere(family)] : here;
  }

  private dumpElements(socket: KernelSocket, to: Addressee, question: Message): typeof DUMPING {
    const wanted = setOf(this.context, question);
    const { table, name } = wanted;
    const isThere = (): boolean =>
      this.context.tables.get(tableId(table.family, table.name)) === table && table.sets.get(name) === wanted;
    socket.deliverLater(elementDumpOf(socket, to, this.now, () => (isThere() ? wanted : undefined)));
    return DUMPING;
  }

  /** A message for each key, up to the first that the set does not have. */
  private elements(socket: KernelSocket, to: Addressee, question: Message): void {
    const { attributes, request } = question;
    const set = setOf(this.context, question);
    const list = attributes.at(nf.ELEMENTS.LIST);
    if (list === undefined) throw new Refusal(E.EINVAL);
    for (const at of within(request.bytes, list)) {
      const element = findElement(set, request.bytes, at, this.now.time());
      if (!element) throw new Refusal(E.ENOENT, at);
      socket.deliver(noticeMessage(to, { kind: nf.MSG.NEWSETELEM, object: { set, element } }, this.now, 0));
    }
  }
}

/**
 * The datagrams of a dump. It finds its place again by counting, so what comes and goes meanwhile makes it skip or repeat something;
 * the first message after a transaction says so.
 */
function* dumpOf(
  socket: KernelSocket,
  to: Addressee,
  now: Now,
  { message: kind, put }: Kind,
  all: () => readonly Listed[],
  release: number,
): Generator<Buffer, void> {
  const telling = { isGone: false, isListed: true, release };
  let seen = now.generation();
  const marked = (part: Buffer): Buffer => {
    const generation = now.generation();
    if (generation !== seen) part.writeUInt16LE(part.readUInt16LE(6) | NLM_F.DUMP_INTR, 6);
    seen = generation;
    return part;
  };
  for (let told = 0; ;) {
    const parts: Buffer[] = [];
    let size = 0;
    for (const object of all().slice(told)) {
      const write = (own: MessageBuilder): void => put(own, object as never, telling);
      const part = message(to, kind, tableWith(object).family, now.generation(), write, NLM_F.MULTI);
      if (size > 0 && size + part.length > socket.room) break;
      parts.push(marked(part));
      size += part.length;
      told++;
    }
    if (parts.length === 0) break;
    yield Buffer.concat(parts);
  }
  yield marked(done(to, 0));
}

/** No element takes more in a message. */
const MOST_FOR_ELEMENT = 640;

/** The datagrams of a dump of elements. Transactions that come between are not told of, but for the number in each message. */
function* elementDumpOf(
  socket: KernelSocket,
  to: Addressee,
  now: Now,
  find: () => NftSet | undefined,
): Generator<Buffer, void> {
  for (let told = 0; ;) {
    const set = find();
    if (!set) return void (yield done(to, E.ENOENT));
    const before = told;
    const put = (): void =>
      putElements(builder, set, () => {
        let index = 0;
        const time = now.time();
        for (const element of set.elements.values()) {
          if (element.expires <= time || index++ < told) continue;
          if (builder.length + MOST_FOR_ELEMENT > socket.room) break;
          putElement(builder, set, element, time);
          told++;
        }
      });
    const part = message(to, nf.MSG.NEWSETELEM, set.table.family, now.generation(), put, NLM_F.MULTI);
    if (told > before) yield part;
    else return void (yield Buffer.concat([part, done(to, 0)]));
  }
}

function done({ port, sequence }: Addressee, errno: number): Buffer {
  const error = Buffer.alloc(4);
  error.writeInt32LE(-errno);
  return builder.begin(NLMSG.DONE, NLM_F.MULTI, sequence, port).raw(error).end().take();
}
