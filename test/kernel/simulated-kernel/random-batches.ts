import { MessageBuilder } from '../../simulation/kernel/netlink/message-builder.js';
import { NLM_F } from '../../simulation/kernel/netlink/numbers.js';
import {
  BATCH_BEGIN,
  BATCH_END,
  CHAIN,
  DATA_VERDICT,
  DESC,
  ELEMENT,
  ELEMENT_FLAG,
  ELEMENTS,
  FAMILY,
  HOOK,
  LIST_ELEM,
  MSG,
  OBJECT,
  RULE,
  SET,
  SET_FLAG,
  SUBSYSTEM,
  TABLE,
} from '../../simulation/kernel/nf-tables/numbers.js';
import { Random } from '../../simulation/world/random.js';
import { CHAINS, hostWord, RandomRules } from './random-rules.js';

/** For messages in which nothing is rare. */
const TAME = Object.assign(new Random(0), { isOneIn: () => false });

const ABOUT_ELEMENTS: readonly number[] = [MSG.NEWSETELEM, MSG.DELSETELEM];

type Put = (builder: MessageBuilder) => unknown;

const TABLES = ['one', 'two'];
const FAMILIES = [FAMILY.IP, FAMILY.IP, FAMILY.IP6, FAMILY.INET];
/** Hooks, with chains of their own. */
const BASES = [
  { name: 'filter-input', type: 'filter', hook: 1, priority: 0 },
  { name: 'filter-post', type: 'filter', hook: 4, priority: 10 },
  { name: 'nat-pre', type: 'nat', hook: 0, priority: -100 },
  { name: 'nat-post', type: 'nat', hook: 4, priority: 100 },
  { name: 'wrong', type: 'nat', hook: 2, priority: 0 },
  { name: 'strange', type: 'mangle', hook: 1, priority: 0 },
];
/** Of nothing: the kernel may work through a batch twice, and gives other numbers then. */
const NO_HANDLE = 1_000_000;
const MARK = { type: 19, length: 4 };
const SETS: readonly {
  name: string;
  flags: number;
  key: number;
  data?: { type: number; length: number };
  size?: number;
}[] = [
  { name: 'marks', flags: 0, key: 4 },
  { name: 'few', flags: 0, key: 4, size: 3 },
  { name: 'values', flags: SET_FLAG.MAP, key: 8, data: MARK },
  { name: 'verdicts', flags: SET_FLAG.MAP, key: 4, data: { type: DATA_VERDICT, length: 0 } },
  { name: 'more', flags: SET_FLAG.MAP, key: 4, data: { type: DATA_VERDICT, length: 0 } },
  { name: 'clients', flags: SET_FLAG.TIMEOUT | SET_FLAG.EVAL, key: 4, size: 100 },
  { name: 'ranges', flags: SET_FLAG.INTERVAL, key: 4 },
  { name: 'odd', flags: SET_FLAG.CONSTANT | SET_FLAG.TIMEOUT, key: 4 },
];

/** Batches of random messages about few things, so that they meet; some of the messages are wrong. */
export class RandomBatches {
  private readonly builder = new MessageBuilder();
  private readonly rules: RandomRules;
  private sequence = 1;
  private setIds = 0;
  private isFirst = true;
  /** What other messages do to the same set would be told, too. */
  private isTellingElements = false;

  constructor(private random: Random) {
    this.rules = new RandomRules(random, this.builder);
  }

  /** One batch. Some have no end, which makes them trials. */
  next(): Buffer {
    const { random } = this;
    const parts = [this.frame(BATCH_BEGIN, random.isOneIn(20) ? NLM_F.ACK : 0)];
    for (let count = random.between(1, 6); count > 0 && !this.isTellingElements; count--)
      parts.push(...this.step());
    if (!random.isOneIn(25)) parts.push(this.frame(BATCH_END, random.isOneIn(20) ? NLM_F.ACK : 0));
    return Buffer.concat(parts);
  }

  /** What makes most of what others are about. */
  beginning(): Buffer {
    const { random } = this;
    this.random = TAME;
    const parts = [this.frame(BATCH_BEGIN, 0)];
    for (const family of new Set(FAMILIES)) {
      parts.push(this.message(MSG.NEWTABLE, 0, family, (builder) => builder.text(TABLE.NAME, TABLES[0]!)));
      for (const name of CHAINS) parts.push(this.chain(family, TABLES[0]!, name));
      for (const set of SETS.slice(0, -1)) parts.push(this.set(family, TABLES[0]!, set));
    }
    this.random = random;
    return Buffer.concat([...parts, this.frame(BATCH_END, 0)]);
  }

  private step(): readonly Buffer[] {
    const { random } = this;
    const family = random.pick(FAMILIES);
    const table = random.isOneIn(20) ? random.pick(['two', 'none']) : TABLES[0]!;
    const make = random.pick(this.steps(family, table));
    return make();
  }

  private steps(family: number, table: string): readonly (() => readonly Buffer[])[] {
    const { random } = this;
    const some = <T>(values: readonly T[]): T => random.pick(values);
    const one = (make: () => Buffer) => (): readonly Buffer[] => [make()];
    const rule = one(() => this.rule(family, table));
    const element = one(() => this.elements(family, table));
    return [
      one(() => this.table(family, table)),
      one(() => this.chain(family, table, some(CHAINS))),
      one(() => this.base(family, table)),
      one(() => this.deleteChain(family, table)),
      one(() => this.set(family, table, some(SETS))),
      one(() => this.deleteSet(family, table)),
      one(() => this.flush(family, table)),
      one(() => this.counter(family, table)),
      () => this.anonymousMap(family, table),
      ...[rule, rule, rule, rule, element, element, element, element],
    ];
  }

  private table(family: number, table: string): Buffer {
    const { random } = this;
    if (random.isOneIn(6))
      return this.message(MSG.DELTABLE, 0, family, (builder) => builder.text(TABLE.NAME, table));
    return this.message(MSG.NEWTABLE, this.maybe(NLM_F.EXCL), family, (builder) => {
      builder.text(TABLE.NAME, table);
      if (random.isOneIn(4)) builder.be32(TABLE.FLAGS, random.pick([0, 0x80]));
      if (random.isOneIn(4)) builder.attribute(TABLE.USERDATA, Buffer.from('\0\x04abc\0'));
    });
  }

  private chain(family: number, table: string, name: string): Buffer {
    const { random } = this;
    return this.message(MSG.NEWCHAIN, NLM_F.CREATE | this.maybe(NLM_F.EXCL), family, (builder) => {
      builder.text(CHAIN.TABLE, table).text(CHAIN.NAME, name);
      if (random.isOneIn(20)) builder.be32(CHAIN.POLICY, 1);
    });
  }

  private base(family: number, table: string): Buffer {
    const { random } = this;
    const { name, type, hook, priority } = random.pick(BASES);
    return this.message(MSG.NEWCHAIN, NLM_F.CREATE, family, (builder) => {
      builder.text(CHAIN.TABLE, table).text(CHAIN.NAME, random.isOneIn(20) ? random.pick(CHAINS) : name);
      builder.nest(CHAIN.HOOK, () => {
        builder.be32(HOOK.NUMBER, random.isOneIn(20) ? random.pick([0, 1, 2, 3, 4, 8]) : hook);
        builder.be32(HOOK.PRIORITY, random.isOneIn(15) ? -250 : priority);
      });
      if (!random.isOneIn(20)) builder.text(CHAIN.TYPE, type);
      if (random.isOneIn(4)) builder.be32(CHAIN.POLICY, random.pick([0, 1, 1, 1, 2]));
    });
  }

  private deleteChain(family: number, table: string): Buffer {
    const { random } = this;
    return this.message(MSG.DELCHAIN, 0, family, (builder) => {
      builder.text(CHAIN.TABLE, table);
      if (!random.isOneIn(30))
        builder.text(CHAIN.NAME, random.pick([...CHAINS, ...BASES.map(({ name }) => name)]));
    });
  }

  private set(
    family: number,
    table: string,
    { name, flags, key, data, size }: (typeof SETS)[number],
  ): Buffer {
    const { random } = this;
    return this.message(
      MSG.NEWSET,
      this.maybe(NLM_F.EXCL) | (random.isOneIn(20) ? 0 : NLM_F.CREATE),
      family,
      (builder) => {
        builder.text(SET.TABLE, table).text(SET.NAME, name);
        if (flags !== 0) builder.be32(SET.FLAGS, random.isOneIn(40) ? 0x3ff : flags);
        builder
          .be32(SET.KEY_TYPE, random.isOneIn(30) ? 7 : MARK.type)
          .be32(SET.KEY_LEN, random.isOneIn(40) ? 65 : key);
        if (data) builder.be32(SET.DATA_TYPE, data.type).be32(SET.DATA_LEN, data.length);
        if (size !== undefined)
          builder.nest(SET.DESC, () => builder.be32(DESC.SIZE, random.isOneIn(5) ? size + 1 : size));
        if (!random.isOneIn(40)) builder.be32(SET.ID, ++this.setIds);
        if ((flags & SET_FLAG.TIMEOUT) !== 0 && random.isOneIn(2)) builder.be64(SET.TIMEOUT, 3_600_000);
      },
    );
  }

  private deleteSet(family: number, table: string): Buffer {
    const { random } = this;
    return this.message(MSG.DELSET, 0, family, (builder) =>
      builder.text(SET.TABLE, table).text(SET.NAME, random.pick(SETS).name),
    );
  }

  private flush(family: number, table: string): Buffer {
    const { random } = this;
    if (random.isOneIn(2))
      return this.message(MSG.DELSETELEM, 0, family, (builder) =>
        builder.text(ELEMENTS.TABLE, table).text(ELEMENTS.SET, random.pick(SETS).name),
      );
    return this.message(MSG.DELRULE, 0, family, (builder) => {
      builder.text(RULE.TABLE, table);
      if (!random.isOneIn(20))
        builder.text(RULE.CHAIN, random.pick([...CHAINS, ...BASES.map(({ name }) => name)]));
      if (random.isOneIn(12)) builder.be64(RULE.HANDLE, NO_HANDLE);
    });
  }

  private counter(family: number, table: string): Buffer {
    const { random } = this;
    const isNew = !random.isOneIn(3);
    return this.message(
      isNew ? MSG.NEWOBJ : MSG.DELOBJ,
      isNew ? NLM_F.CREATE | this.maybe(NLM_F.EXCL) : 0,
      family,
      (builder) => {
        builder
          .text(OBJECT.TABLE, table)
          .text(OBJECT.NAME, random.pick(['hits', 'misses']))
          .be32(OBJECT.TYPE, 1);
        if (isNew) builder.nest(OBJECT.DATA, () => undefined);
      },
    );
  }

  /** A map without a name, with elements, and mostly a rule that looks into it. */
  private anonymousMap(family: number, table: string): readonly Buffer[] {
    const { random } = this;
    const id = ++this.setIds;
    const chain = random.pick([...CHAINS, 'nat-pre']);
    const isVerdict = random.isOneIn(2);
    const made = this.message(MSG.NEWSET, NLM_F.CREATE, family, (builder) => {
      builder.text(SET.TABLE, table).text(SET.NAME, '__map%d');
      builder.be32(SET.FLAGS, SET_FLAG.ANONYMOUS | SET_FLAG.CONSTANT | SET_FLAG.MAP);
      builder.be32(SET.KEY_TYPE, 4).be32(SET.KEY_LEN, 4);
      builder.be32(SET.DATA_TYPE, isVerdict ? DATA_VERDICT : 7).be32(SET.DATA_LEN, isVerdict ? 0 : 4);
      builder.be32(SET.ID, id);
      if (random.isOneIn(2)) builder.nest(SET.DESC, () => builder.be32(DESC.SIZE, 2));
    });
    const filled = this.message(MSG.NEWSETELEM, NLM_F.CREATE, family, (builder) => {
      builder.text(ELEMENTS.TABLE, table).text(ELEMENTS.SET, '__map%d').be32(ELEMENTS.SET_ID, id);
      builder.nest(ELEMENTS.LIST, () => {
        for (const key of [0, 1])
          builder.nest(LIST_ELEM, () => {
            this.rules.value(ELEMENT.KEY, hostWord(key));
            if (isVerdict) this.rules.verdict(ELEMENT.DATA);
            else this.rules.value(ELEMENT.DATA, hostWord(key + 10));
          });
      });
    });
    const rule = this.message(MSG.NEWRULE, NLM_F.CREATE | NLM_F.APPEND, family, (builder) => {
      builder.text(RULE.TABLE, table).text(RULE.CHAIN, chain);
      builder.nest(RULE.EXPRESSIONS, () => {
        this.rules.expression('numgen', () => builder.be32(1, 1).be32(2, 2).be32(3, 1).be32(4, 0));
        this.rules.expression('lookup', () =>
          builder
            .text(1, '__map%d')
            .be32(2, 1)
            .be32(3, isVerdict ? 0 : 1)
            .be32(4, id),
        );
      });
    });
    return random.isOneIn(15) ? [made, filled] : [made, filled, rule];
  }

  private elements(family: number, table: string): Buffer {
    const { random } = this;
    const set = random.pick(SETS);
    const isNew = !random.isOneIn(4);
    const kind = isNew ? MSG.NEWSETELEM : MSG.DELSETELEM;
    return this.message(kind, isNew ? NLM_F.CREATE | this.maybe(NLM_F.EXCL) : 0, family, (builder) => {
      builder.text(ELEMENTS.TABLE, table).text(ELEMENTS.SET, random.isOneIn(30) ? 'none' : set.name);
      builder.nest(ELEMENTS.LIST, () => {
        if ((set.flags & SET_FLAG.INTERVAL) !== 0) return this.range();
        for (let count = random.between(1, 3); count > 0; count--)
          builder.nest(LIST_ELEM, () => this.element(set, isNew));
      });
    });
  }

  /** One of a few that do not overlap: where it begins, and where it ends. */
  private range(): void {
    const { builder } = this;
    const start = 100 * this.random.between(1, 3);
    builder.nest(LIST_ELEM, () => this.rules.value(ELEMENT.KEY, networkWord(start)));
    builder.nest(LIST_ELEM, () => {
      this.rules.value(ELEMENT.KEY, networkWord(start + 50));
      builder.be32(ELEMENT.FLAGS, ELEMENT_FLAG.INTERVAL_END);
    });
  }

  private element({ key, data }: (typeof SETS)[number], isNew: boolean): void {
    const { random, builder } = this;
    const length = random.isOneIn(30) ? key - 1 : key;
    if (!random.isOneIn(40))
      this.rules.value(ELEMENT.KEY, Buffer.concat([Buffer.of(random.between(0, 4))], length));
    if (!isNew) return;
    if (data ? !random.isOneIn(20) : random.isOneIn(30)) {
      if (data?.type === DATA_VERDICT && !random.isOneIn(20)) this.rules.verdict(ELEMENT.DATA);
      else this.rules.value(ELEMENT.DATA, hostWord(random.between(0, 2)));
    }
    if (random.isOneIn(15)) builder.be64(ELEMENT.TIMEOUT, 7_200_000);
    if (random.isOneIn(5)) builder.attribute(ELEMENT.USERDATA, Buffer.from('\0\x04abc\0'));
    if (random.isOneIn(40)) builder.be32(ELEMENT.FLAGS, random.pick([ELEMENT_FLAG.INTERVAL_END, 4]));
  }

  private rule(family: number, table: string): Buffer {
    const { random } = this;
    const flags = random.isOneIn(20) ? 0 : NLM_F.CREATE | (random.isOneIn(3) ? 0 : NLM_F.APPEND);
    return this.message(MSG.NEWRULE, flags, family, (builder) => {
      builder.text(RULE.TABLE, table);
      builder.text(RULE.CHAIN, random.pick([...CHAINS, ...CHAINS, ...BASES.map(({ name }) => name)]));
      builder.nest(RULE.EXPRESSIONS, () => {
        for (let count = random.between(1, 3); count > 0; count--) random.pick(this.rules.parts(family))();
      });
      if (random.isOneIn(4)) builder.attribute(RULE.USERDATA, Buffer.from('\0\x04abc\0'));
    });
  }

  /** Rarely, a flag that changes whether something is refused. */
  private maybe(flag: number): number {
    return this.random.isOneIn(12) ? flag : 0;
  }

  private message(kind: number, flags: number, family: number, put: Put): Buffer {
    const { builder, random } = this;
    // Of a table that is deleted the kernel tells everything, which is not simulated.
    const isEchoed = this.isFirst && kind !== MSG.DELTABLE && random.isOneIn(5);
    this.isTellingElements = isEchoed && ABOUT_ELEMENTS.includes(kind);
    this.isFirst = false;
    const more = (isEchoed ? NLM_F.ECHO : 0) | (random.isOneIn(20) ? NLM_F.ACK : 0);
    const type = (SUBSYSTEM << 8) | kind;
    builder.begin(type, NLM_F.REQUEST | flags | more, this.sequence++, 0).raw(Uint8Array.of(family, 0, 0, 0));
    put(builder);
    return builder.end().take();
  }

  private frame(type: number, flags: number): Buffer {
    const { builder } = this;
    this.isFirst = true;
    this.isTellingElements = false;
    builder.begin(type, NLM_F.REQUEST | flags, this.sequence++, 0).raw(Uint8Array.of(0, 0, 0, SUBSYSTEM));
    return builder.end().take();
  }
}

function networkWord(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
