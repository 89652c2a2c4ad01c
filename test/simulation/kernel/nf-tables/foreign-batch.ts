import { MessageBuilder } from '../netlink/message-builder.js';
import { NLM_F } from '../netlink/numbers.js';
import * as nf from './numbers.js';
import type { Rule } from './objects.js';

/**
 * Attributes in their order: texts get a zero byte, numbers have 32 bits, big-endian, and lists become attributes that contain
 * others.
 */
export type RawAttributes = readonly {
  readonly type: number;
  readonly value: number | string | Buffer | RawAttributes;
}[];

/** An expression of a rule, by its name. */
export interface RawExpression {
  readonly name: string;
  readonly attributes: RawAttributes;
}

/** A verdict. @param chain where jumps and gotos lead */
export function verdict(code: keyof typeof nf.VERDICT_CODE, chain?: string): RawExpression {
  const its: RawAttributes = [
    { type: nf.VERDICT.CODE, value: nf.VERDICT_CODE[code] },
    ...(chain === undefined ? [] : [{ type: nf.VERDICT.CHAIN, value: chain }]),
  ];
  const [DREG, VALUE] = [1, 2];
  return {
    name: 'immediate',
    attributes: [
      { type: DREG, value: 0 },
      { type: VALUE, value: [{ type: nf.DATA.VERDICT, value: its }] },
    ],
  };
}

export const COUNTER: RawExpression = { name: 'counter', attributes: [] };

export interface RawChain {
  readonly name: string;
  readonly hook?: {
    readonly type: string;
    readonly number: number;
    readonly priority: number;
    readonly drops?: boolean;
  };
}

export interface RawSet {
  readonly name: string;
  readonly flags: number;
  readonly keyType: number;
  readonly keyLength: number;
  readonly data?: { readonly type: number; readonly length: number };
  /** Milliseconds after which elements go. */
  readonly timeout?: number;
}

/** The name of all sets that belong to a rule; the kernel gives them names of their own. */
const ANONYMOUS = '__set%d';

const FAMILIES = { inet: nf.FAMILY.INET, ip: nf.FAMILY.IP, ip6: nf.FAMILY.IP6, any: nf.FAMILY.ANY } as const;

/** A batch of another program of the simulated machine, for `NfTables.transact`. */
export class ForeignBatch {
  private readonly builder = new MessageBuilder();
  private readonly parts: Buffer[] = [];
  private sequence = 1;

  constructor(
    private readonly family: keyof typeof FAMILIES,
    private readonly table: string,
  ) {
    this.frame(nf.BATCH_BEGIN);
  }

  /** The bytes, with the message that ends it. */
  end(): Buffer {
    this.frame(nf.BATCH_END);
    return Buffer.concat(this.parts);
  }

  addTable(): this {
    return this.put(nf.MSG.NEWTABLE, NLM_F.CREATE, (builder) => builder.text(nf.TABLE.NAME, this.table));
  }

  deleteTable(): this {
    return this.put(nf.MSG.DELTABLE, 0, (builder) => builder.text(nf.TABLE.NAME, this.table));
  }

  /** Deletes all tables of the family, of all programs; of all families if it is `any`. */
  flushRuleset(): this {
    return this.put(nf.MSG.DELTABLE, 0, () => undefined);
  }

  /** Deletes the rules of a chain, or of all. */
  flush(chain?: string): this {
    return this.put(nf.MSG.DELRULE, 0, (builder) => {
      builder.text(nf.RULE.TABLE, this.table);
      if (chain !== undefined) builder.text(nf.RULE.CHAIN, chain);
    });
  }

  addChain({ name, hook }: RawChain): this {
    return this.put(nf.MSG.NEWCHAIN, NLM_F.CREATE, (builder) => {
      builder.text(nf.CHAIN.TABLE, this.table).text(nf.CHAIN.NAME, name);
      if (!hook) return;
      builder.nest(nf.CHAIN.HOOK, () =>
        builder.be32(nf.HOOK.NUMBER, hook.number).be32(nf.HOOK.PRIORITY, hook.priority),
      );
      builder.text(nf.CHAIN.TYPE, hook.type);
      builder.be32(nf.CHAIN.POLICY, hook.drops === true ? nf.VERDICT_CODE.DROP : nf.VERDICT_CODE.ACCEPT);
    });
  }

  deleteChain(name: string): this {
    return this.put(nf.MSG.DELCHAIN, 0, (builder) =>
      builder.text(nf.CHAIN.TABLE, this.table).text(nf.CHAIN.NAME, name),
    );
  }

  /** At the end of a chain, or before its first rule. */
  addRule(chain: string, expressions: readonly RawExpression[], place: 'last' | 'first' = 'last'): this {
    const flags = place === 'last' ? NLM_F.CREATE | NLM_F.APPEND : NLM_F.CREATE;
    return this.put(nf.MSG.NEWRULE, flags, (builder) => {
      builder.text(nf.RULE.TABLE, this.table).text(nf.RULE.CHAIN, chain);
      builder.nest(nf.RULE.EXPRESSIONS, () => {
        for (const { name, attributes } of expressions)
          builder.nest(nf.LIST_ELEM, () => {
            builder.text(nf.EXPR.NAME, name);
            builder.nest(nf.EXPR.DATA, () => putAll(builder, attributes));
          });
      });
    });
  }

  /** Deletes a rule of the chain and adds it again there. */
  moveRule({ chain: { name }, handle, dumped, userdata }: Rule, place: 'last' | 'first'): this {
    const flags = place === 'last' ? NLM_F.CREATE | NLM_F.APPEND : NLM_F.CREATE;
    return this.deleteRule(name, handle).put(nf.MSG.NEWRULE, flags, (builder) => {
      builder
        .text(nf.RULE.TABLE, this.table)
        .text(nf.RULE.CHAIN, name)
        .attribute(nf.RULE.EXPRESSIONS, dumped);
      if (userdata) builder.attribute(nf.RULE.USERDATA, userdata);
    });
  }

  /** By its number in the chain's table. */
  deleteRule(chain: string, handle: number): this {
    return this.put(nf.MSG.DELRULE, 0, (builder) =>
      builder.text(nf.RULE.TABLE, this.table).text(nf.RULE.CHAIN, chain).be64(nf.RULE.HANDLE, handle),
    );
  }

  addSet({ name, flags, keyType, keyLength, data, timeout }: RawSet, id = this.sequence): this {
    return this.put(nf.MSG.NEWSET, NLM_F.CREATE, (builder) => {
      builder.text(nf.SET.TABLE, this.table).text(nf.SET.NAME, name).be32(nf.SET.ID, id);
      builder.be32(nf.SET.FLAGS, flags).be32(nf.SET.KEY_TYPE, keyType).be32(nf.SET.KEY_LEN, keyLength);
      if (data) builder.be32(nf.SET.DATA_TYPE, data.type).be32(nf.SET.DATA_LEN, data.length);
      if (timeout !== undefined) builder.be64(nf.SET.TIMEOUT, timeout);
    });
  }

  /** Adds a map that belongs to the next rule, with its elements. Returns what the rule looks it up by: its name and number. */
  addAnonymousMap(
    map: Omit<RawSet, 'name' | 'flags'>,
    elements: readonly RawAttributes[],
  ): { readonly name: string; readonly id: number } {
    const id = this.sequence;
    const flags = nf.SET_FLAG.ANONYMOUS | nf.SET_FLAG.CONSTANT | nf.SET_FLAG.MAP;
    this.addSet({ ...map, name: ANONYMOUS, flags }, id).elements(nf.MSG.NEWSETELEM, ANONYMOUS, elements, id);
    return { name: ANONYMOUS, id };
  }

  deleteSet(name: string): this {
    return this.put(nf.MSG.DELSET, 0, (builder) =>
      builder.text(nf.SET.TABLE, this.table).text(nf.SET.NAME, name),
    );
  }

  /** Elements by their attributes. */
  addElements(set: string, elements: readonly RawAttributes[]): this {
    return this.elements(nf.MSG.NEWSETELEM, set, elements);
  }

  /** By their keys; all of the set if none are given. */
  deleteElements(set: string, keys?: readonly Buffer[]): this {
    return this.elements(
      nf.MSG.DELSETELEM,
      set,
      keys?.map((key) => [{ type: nf.ELEMENT.KEY, value: [{ type: nf.DATA.VALUE, value: key }] }]),
    );
  }

  /** Makes something by its attributes, as another kernel has listed it. @param kind the lower byte of the message's type */
  addListed(kind: number, attributes: Buffer): this {
    const flags = kind === nf.MSG.NEWRULE ? NLM_F.CREATE | NLM_F.APPEND : NLM_F.CREATE;
    return this.put(kind, flags, (builder) => builder.raw(attributes));
  }

  private elements(
    kind: number,
    set: string,
    elements: readonly RawAttributes[] | undefined,
    id?: number,
  ): this {
    return this.put(kind, kind === nf.MSG.NEWSETELEM ? NLM_F.CREATE : 0, (builder) => {
      builder.text(nf.ELEMENTS.TABLE, this.table).text(nf.ELEMENTS.SET, set);
      if (id !== undefined) builder.be32(nf.ELEMENTS.SET_ID, id);
      if (!elements) return;
      builder.nest(nf.ELEMENTS.LIST, () => {
        for (const element of elements) builder.nest(nf.LIST_ELEM, () => putAll(builder, element));
      });
    });
  }

  private put(kind: number, flags: number, put: (builder: MessageBuilder) => unknown): this {
    const { builder } = this;
    builder.begin((nf.SUBSYSTEM << 8) | kind, NLM_F.REQUEST | flags, this.sequence++, 0);
    builder.raw(Uint8Array.of(FAMILIES[this.family], 0, 0, 0));
    put(builder);
    this.parts.push(builder.end().take());
    return this;
  }

  private frame(type: number): void {
    this.builder.begin(type, NLM_F.REQUEST, this.sequence++, 0).raw(Uint8Array.of(0, 0, 0, nf.SUBSYSTEM));
    this.parts.push(this.builder.end().take());
  }
}

function putAll(builder: MessageBuilder, attributes: RawAttributes): void {
  for (const { type, value } of attributes) {
    if (typeof value === 'number') builder.be32(type, value);
    else if (typeof value === 'string') builder.text(type, value);
    else if (Buffer.isBuffer(value)) builder.attribute(type, value);
    else builder.nest(type, () => putAll(builder, value));
  }
}
