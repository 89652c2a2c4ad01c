import { AttributeReader } from '../../../../src/adapters/netlink/message-reader.js';
import { CHAIN, ELEMENTS, RULE, SET, TABLE } from '../../../../src/adapters/nftables/netlink/records.js';
import {
  kernelChain,
  kernelElement,
  kernelRule,
  kernelSet,
  kernelTable,
} from '../../../../src/adapters/nftables/netlink/kernel-table.js';
import type { FindElement } from '../../../../src/diagnostics/domain/nftables/elements.js';
import type {
  KernelChain,
  KernelElement,
  KernelRule,
  KernelSet,
  KernelTable,
} from '../../../../src/domain/nftables/kernel/ruleset.js';
import { MessageBuilder } from '../netlink/message-builder.js';
import { putChain, putElement, putElements, putRule, putSet, putTable } from './listing.js';
import { TABLE_FLAG } from './numbers.js';
import type { Chain, Element, NftSet, Rule, Table } from './objects.js';

const FAMILIES: Readonly<Record<number, KernelTable['family']>> = { 1: 'inet', 2: 'ip', 10: 'ip6' };

/**
 * Tables as the program would read them from messages, to send packets through. What was read is kept as long as it is not changed, so
 * that after a transaction only what it has changed is read.
 */
export class KernelTables {
  private readonly tables = new WeakMap<Table, { readonly changedAt: number; readonly value: KernelTable }>();
  private readonly chains = new WeakMap<
    Chain,
    Pick<Chain, 'rules' | 'base'> & { readonly value: KernelChain }
  >();
  private readonly rules = new WeakMap<Rule, KernelRule>();
  private readonly sets = new WeakMap<NftSet, KernelSet>();
  private readonly elements = new WeakMap<Element, KernelElement>();
  private readonly originals = new WeakMap<KernelTable, Table>();
  private readonly builder = new MessageBuilder();

  /** @param now the time, in milliseconds */
  constructor(private readonly now: () => number) {}

  /** Undefined for tables of other families than those of IP, and for those that are switched off. */
  read(table: Table): KernelTable | undefined {
    const family = FAMILIES[table.family];
    if (!family || (table.flags & TABLE_FLAG.DORMANT) !== 0) return undefined;
    const known = this.tables.get(table);
    if (known?.changedAt === table.changedAt) return known.value;
    const chains = [...table.chains.values()].map((chain) => [chain.name, this.chain(chain)] as const);
    const sets = [...table.sets.values()].map((set) => [set.name, this.set(set)] as const);
    const record = TABLE.read(this.written((builder) => putTable(builder, table)));
    const empty = kernelTable(family, { table: record, chains: new Map(), sets: new Map(), isTorn: false });
    const value: KernelTable = { ...empty, chains: new Map(chains), sets: new Map(sets) };
    this.originals.set(value, table);
    this.tables.set(table, { changedAt: table.changedAt, value });
    return value;
  }

  /** Finds the element that the kernel would find, in a table that was read here. No set of a world has ranges. */
  readonly find: FindElement = (table, { name }, { buffer, byteOffset, length }) => {
    const set = this.originals.get(table)?.sets.get(name);
    if (!set) return undefined;
    const now = this.now();
    const found = set.elements.get(Buffer.from(buffer, byteOffset, length).toString('latin1'));
    const element = found && found.expires > now ? found : set.elements.get('');
    return element && element.expires > now ? this.element(set, element) : undefined;
  };

  private chain(chain: Chain): KernelChain {
    const { rules, base } = chain;
    const known = this.chains.get(chain);
    if (known?.rules === rules && known.base === base) return known.value;
    const record = CHAIN.read(this.written((builder) => putChain(builder, chain)));
    const value = kernelChain(
      record,
      rules.map((rule) =>
        kept(this.rules, rule, () =>
          kernelRule(RULE.read(this.written((builder) => putRule(builder, rule)))),
        ),
      ),
    );
    this.chains.set(chain, { rules, base, value });
    return value;
  }

  private set(set: NftSet): KernelSet {
    return kept(this.sets, set, () =>
      kernelSet(SET.read(this.written((builder) => putSet(builder, set, 0)))),
    );
  }

  private element(set: NftSet, element: Element): KernelElement {
    return kept(this.elements, element, () => {
      const read = this.written((builder) =>
        putElements(builder, set, () => putElement(builder, set, element, this.now())),
      );
      return kernelElement(ELEMENTS.read(read).list![0]!);
    });
  }

  private written(put: (builder: MessageBuilder) => void): AttributeReader {
    put(this.builder);
    return new AttributeReader(this.builder.take());
  }
}

function kept<Key extends object, Value>(cache: WeakMap<Key, Value>, key: Key, make: () => Value): Value {
  let value = cache.get(key);
  if (value === undefined) cache.set(key, (value = make()));
  return value;
}
