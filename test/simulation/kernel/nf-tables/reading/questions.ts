import type { KernelSocket } from '../../netlink/requests.js';
import { E, NLM_F } from '../../netlink/numbers.js';
import { Refusal, within } from '../../netlink/attributes.js';
import { byHandle, chainOf, findSet, tableOf, type Context, type Message } from '../context.js';
import { findElement } from '../changes/elements.js';
import { putChain, putCounter, putElement, putElements, putRule, putSet, putTable } from '../messages.js';
import { CHAIN, ELEMENTS, FAMILY, GEN, MSG, OBJECT, RULE, SET, TABLE } from '../numbers.js';
import { type Chain, type Counter, type NftSet, type Rule, type Table } from '../objects.js';
import { addresseeOf, message, type Addressee } from './answer-builder.js';
import { dumpOf, elementDumpOf, type Listing, type Now } from './dumps.js';

interface PlacedRule {
  readonly rule: Rule;
  readonly before: Rule | undefined;
}

/** Answers questions about what the kernel keeps. */
export class Questions {
  constructor(
    private readonly context: Context,
    private readonly now: Now,
    private readonly nameOf: (process: number) => string,
    /** Tables of an IP family whose content is kept elsewhere: their chains are listed as if they were empty. */
    private readonly keptElsewhere: (family: number) => readonly Table[] = () => [],
  ) {}

  /** @returns whether a dump was begun, which is not acknowledged. @throws Refusal */
  answer(socket: KernelSocket, question: Message): boolean {
    const to = addresseeOf(socket, question);
    const isDump = (question.flags & NLM_F.DUMP) === NLM_F.DUMP;
    if (isDump && socket.isDumping) throw new Refusal(E.EBUSY);
    switch (question.kind) {
      case MSG.GETGEN:
        this.tell(socket, to, MSG.NEWGEN, FAMILY.ANY, (builder) => {
          builder.be32(GEN.ID, this.now.generation());
          builder.be32(GEN.PROC_PID, socket.process);
          builder.text(GEN.PROC_NAME, this.nameOf(socket.process));
        });
        return false;
      case MSG.GETTABLE:
        return isDump ? this.dump(socket, to, this.tables(question)) : this.table(socket, to, question);
      case MSG.GETCHAIN:
        return isDump ? this.dump(socket, to, this.chains(question)) : this.chain(socket, to, question);
      case MSG.GETRULE:
        return isDump ? this.dump(socket, to, this.rules(question)) : this.rule(socket, to, question);
      case MSG.GETSET:
        return isDump ? this.dump(socket, to, this.sets(question)) : this.set(socket, to, question);
      case MSG.GETSETELEM:
        return isDump ? this.dumpElements(socket, to, question) : this.elements(socket, to, question);
      case MSG.GETOBJ:
        if (isDump) return this.dump(socket, to, this.counters(question));
        throw new Refusal(E.EOPNOTSUPP);
      default:
        throw new Refusal(E.EINVAL);
    }
  }

  private tell(
    socket: KernelSocket,
    to: Addressee,
    kind: number,
    family: number,
    put: Parameters<typeof message>[5],
  ): void {
    socket.deliver(message(to, kind, 0, family, this.now.generation(), put));
  }

  private dump<T>(socket: KernelSocket, to: Addressee, listing: Listing<T>): true {
    socket.deliverLater(dumpOf(socket, to, this.now, listing));
    return true;
  }

  private *tablesOf({ family }: Message): Generator<Table> {
    for (const table of this.context.tables.values())
      if (family === FAMILY.ANY || table.family === family) yield table;
  }

  private tables(question: Message): Listing<Table> {
    const all = () => this.tablesOf(question);
    return {
      all,
      kind: MSG.NEWTABLE,
      familyOf: ({ family }) => family,
      put: (builder, table) => putTable(builder, table),
    };
  }

  private table(socket: KernelSocket, to: Addressee, question: Message): false {
    const table = tableOf(this.context, question, TABLE.NAME, 0);
    this.tell(socket, to, MSG.NEWTABLE, table.family, (builder) => putTable(builder, table));
    return false;
  }

  /** Those of all tables, whatever table the question names. */
  private chains(question: Message): Listing<Chain> {
    const { tablesOf } = this;
    const all = function* (this: Questions): Generator<Chain> {
      for (const table of tablesOf.call(this, question)) yield* table.chains.values();
      for (const table of this.keptElsewhere(question.family)) yield* table.chains.values();
    };
    return {
      all: all.bind(this),
      kind: MSG.NEWCHAIN,
      familyOf: ({ table }) => table.family,
      put: (builder, chain) => putChain(builder, chain),
    };
  }

  private chain(socket: KernelSocket, to: Addressee, question: Message): false {
    const table = tableOf(this.context, question, CHAIN.TABLE, 0);
    const chain = chainOf(table, question.attributes, CHAIN.NAME);
    this.tell(socket, to, MSG.NEWCHAIN, table.family, (builder) => putChain(builder, chain));
    return false;
  }

  private rules(question: Message): Listing<PlacedRule> {
    const [table, chain] = [question.attributes.text(RULE.TABLE), question.attributes.text(RULE.CHAIN)];
    const tables = () => this.tablesOf(question);
    const all = function* (): Generator<PlacedRule> {
      for (const one of tables()) {
        if (table !== undefined && one.name !== table) continue;
        for (const { name, rules } of one.chains.values()) {
          if (table !== undefined && chain !== undefined && name !== chain) continue;
          for (const [index, rule] of rules.entries()) yield { rule, before: rules[index - 1] };
        }
      }
    };
    return {
      all,
      kind: MSG.NEWRULE,
      familyOf: ({ rule }) => rule.chain.table.family,
      put: (builder, { rule, before }) => putRule(builder, rule, before),
    };
  }

  private rule(socket: KernelSocket, to: Addressee, question: Message): false {
    const { attributes } = question;
    const table = tableOf(this.context, question, RULE.TABLE, 0);
    const chain = chainOf(table, attributes, RULE.CHAIN);
    const handle = attributes.be64(RULE.HANDLE);
    if (handle === undefined) throw new Refusal(E.EINVAL);
    const rule = byHandle(chain.rules, handle);
    if (!rule) throw new Refusal(E.ENOENT, attributes.at(RULE.HANDLE));
    this.tell(socket, to, MSG.NEWRULE, table.family, (builder) => putRule(builder, rule));
    return false;
  }

  private sets(question: Message): Listing<NftSet> {
    const { attributes } = question;
    const name = attributes.has(SET.TABLE) ? tableOf(this.context, question, SET.TABLE, 0).name : undefined;
    const tables = () => this.tablesOf(question);
    const all = function* (): Generator<NftSet> {
      for (const table of tables()) if (name === undefined || table.name === name) yield* table.sets.values();
    };
    return {
      all,
      kind: MSG.NEWSET,
      familyOf: ({ table }) => table.family,
      put: (builder, set) => putSet(builder, set, this.context.release),
    };
  }

  private set(socket: KernelSocket, to: Addressee, question: Message): false {
    const { attributes } = question;
    const table = tableOf(this.context, question, SET.TABLE, 0);
    const set = table.sets.get(attributes.text(SET.NAME) ?? '');
    if (!set) throw new Refusal(E.ENOENT, attributes.at(SET.NAME));
    this.tell(socket, to, MSG.NEWSET, table.family, (builder) => putSet(builder, set, this.context.release));
    return false;
  }

  private setOf(question: Message): NftSet {
    const { attributes } = question;
    const table = tableOf(this.context, question, ELEMENTS.TABLE, 0);
    const set = findSet(table, attributes.text(ELEMENTS.SET), undefined, undefined);
    if (!set) throw new Refusal(E.ENOENT, attributes.at(ELEMENTS.SET));
    return set;
  }

  private dumpElements(socket: KernelSocket, to: Addressee, question: Message): true {
    const wanted = this.setOf(question);
    const find = (): NftSet | undefined => {
      const { table, name } = wanted;
      return this.context.tables.get(`${table.family} ${table.name}`) === table &&
        table.sets.get(name) === wanted
        ? wanted
        : undefined;
    };
    socket.deliverLater(elementDumpOf(socket, to, this.now, find));
    return true;
  }

  /** A message for each key, up to the first that the set does not have. */
  private elements(socket: KernelSocket, to: Addressee, question: Message): false {
    const { attributes, bytes } = question;
    const set = this.setOf(question);
    const list = attributes.at(ELEMENTS.LIST);
    if (list === undefined) throw new Refusal(E.EINVAL);
    const time = this.now.time();
    for (const at of within(bytes, list)) {
      const element = findElement(set, bytes, at, time);
      if (!element) throw new Refusal(E.ENOENT, at);
      this.tell(socket, to, MSG.NEWSETELEM, set.table.family, (builder) =>
        putElements(builder, set, () => putElement(builder, set, element, time)),
      );
    }
    return false;
  }

  private counters(question: Message): Listing<Counter> {
    const name = question.attributes.text(OBJECT.TABLE);
    const tables = () => this.tablesOf(question);
    const all = function* (): Generator<Counter> {
      for (const table of tables())
        if (name === undefined || table.name === name) yield* table.counters.values();
    };
    return {
      all,
      kind: MSG.NEWOBJ,
      familyOf: ({ table }) => table.family,
      put: (builder, counter) => putCounter(builder, counter),
    };
  }
}
