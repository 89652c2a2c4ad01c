import { AttributeReader } from '../../../../../src/adapters/netlink/message-reader.js';
import { CHAIN, ELEMENTS, RULE, SET, TABLE } from '../../../../../src/adapters/nftables/netlink/records.js';
import {
  kernelChain,
  kernelElement,
  kernelRule,
  kernelSet,
  kernelTable,
} from '../../../../../src/adapters/nftables/netlink/kernel-table.js';
import type { FindElement } from '../../../../../src/diagnostics/domain/nftables/elements.js';
import type {
  KernelChain,
  KernelElement,
  KernelRule,
  KernelSet,
  KernelTable,
} from '../../../../../src/domain/nftables/kernel/ruleset.js';
import { MessageBuilder } from '../../netlink/message-builder.js';
import { putChain, putElement, putElements, putRule, putSet, putTable } from '../messages.js';
import { SET_FLAG, TABLE_FLAG } from '../numbers.js';
import { isFlagged, type Chain, type Element, type NftSet, type Rule, type Table } from '../objects.js';
import { RangeIndex } from './range-index.js';

const FAMILIES: Readonly<Record<number, KernelTable['family']>> = { 1: 'inet', 2: 'ip', 10: 'ip6' };

/** A value that holds as long as a state is the same object or number. */
interface Cached<State, Value> {
  readonly state: State;
  readonly value: Value;
}

/**
 * Tables as the program would read them from messages, to send packets through. What was read is kept as long as it is not changed, so
 * that after a transaction only what it has changed is read.
 */
export class KernelTables {
  private readonly tables = new WeakMap<Table, Cached<number, KernelTable>>();
  private readonly chains = new WeakMap<Chain, Cached<readonly unknown[], KernelChain>>();
  private readonly rules = new WeakMap<Rule, KernelRule>();
  private readonly sets = new WeakMap<NftSet, KernelSet>();
  private readonly elements = new WeakMap<Element, KernelElement>();
  private readonly ranges = new WeakMap<NftSet, Cached<number, RangeIndex>>();
  private readonly originals = new WeakMap<KernelTable, Table>();
  private readonly builder = new MessageBuilder();

  /** @param now the time, in milliseconds */
  constructor(private readonly now: () => number) {}

  /** Undefined for tables of other families than those of IP, and for those that are switched off. */
  read(table: Table): KernelTable | undefined {
    const family = FAMILIES[table.family];
    if (!family || (table.flags & TABLE_FLAG.DORMANT) !== 0) return undefined;
    return kept(this.tables, table, table.changedAt, () => {
      const chains = [...table.chains.values()].map((chain) => [chain.name, this.chain(chain)] as const);
      const sets = [...table.sets.values()].map((set) => [set.name, this.set(set)] as const);
      const record = TABLE.read(this.written(() => putTable(this.builder, table)));
      const empty = kernelTable(family, { table: record, chains: new Map(), sets: new Map(), isTorn: false });
      const read: KernelTable = { ...empty, chains: new Map(chains), sets: new Map(sets) };
      this.originals.set(read, table);
      return read;
    });
  }

  /** Finds the element that the kernel would find, in a table that was read here. */
  readonly find: FindElement = (table, { name }, key) => {
    const original = this.originals.get(table);
    const set = original?.sets.get(name);
    if (!original || !set) return undefined;
    const now = this.now();
    const isThere = (element: Element | undefined): element is Element =>
      element !== undefined && element.expires > now;
    const found = isFlagged(set, SET_FLAG.INTERVAL)
      ? kept(this.ranges, set, original.changedAt, () => new RangeIndex(set)).find(asBuffer(key))
      : set.elements.get(asBuffer(key).toString('latin1'));
    const element = isThere(found) ? found : set.elements.get('');
    return isThere(element) ? this.element(set, element) : undefined;
  };

  private chain(chain: Chain): KernelChain {
    const { rules, base } = chain;
    const known = this.chains.get(chain);
    if (known?.state[0] === rules && known.state[1] === base) return known.value;
    const record = CHAIN.read(this.written(() => putChain(this.builder, chain)));
    const decoded = rules.map((rule) => this.rule(rule));
    const value = kernelChain(record, decoded);
    this.chains.set(chain, { state: [rules, base], value });
    return value;
  }

  private rule(rule: Rule): KernelRule {
    let read = this.rules.get(rule);
    if (!read) {
      read = kernelRule(RULE.read(this.written(() => putRule(this.builder, rule))));
      this.rules.set(rule, read);
    }
    return read;
  }

  private set(set: NftSet): KernelSet {
    let read = this.sets.get(set);
    if (!read) {
      read = kernelSet(SET.read(this.written(() => putSet(this.builder, set, 0))));
      this.sets.set(set, read);
    }
    return read;
  }

  private element(set: NftSet, element: Element): KernelElement {
    let read = this.elements.get(element);
    if (!read) {
      const { builder } = this;
      const put = () => putElements(builder, set, () => putElement(builder, set, element, this.now()));
      read = kernelElement(ELEMENTS.read(this.written(put)).list![0]!);
      this.elements.set(element, read);
    }
    return read;
  }

  private written(put: () => void): AttributeReader {
    put();
    return new AttributeReader(this.builder.take());
  }
}

/** The same bytes, not copied. */
function asBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

function kept<Key extends object, State, Value>(
  cache: WeakMap<Key, Cached<State, Value>>,
  key: Key,
  state: State,
  make: () => Value,
): Value {
  const known = cache.get(key);
  if (known?.state === state) return known.value;
  const value = make();
  cache.set(key, { state, value });
  return value;
}
