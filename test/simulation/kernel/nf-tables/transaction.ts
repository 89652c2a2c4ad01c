import type { Binding, Chain, Counter, Element, NftSet, Rule, Table } from './objects.js';

/** An element that a transaction made or removed. */
export interface SetElement {
  readonly set: NftSet;
  readonly element: Element;
}

/** What a message did, for those who want to hear of it. */
export interface Notice {
  /** The lower byte of the type. */
  readonly kind: number;
  readonly object: Table | Chain | Rule | NftSet | Counter | SetElement;
}

interface Numbered {
  readonly handle: number;
}

/** One batch: what it has done so far, how to undo that, and what is to be judged at its end. */
export class Transaction {
  /** By their numbers in this batch. */
  readonly sets = new Map<number, NftSet>();
  readonly changed = new Set<Table>();
  /** Sets without a name that no rule looks into yet. */
  readonly unbound = new Set<NftSet>();
  /** Chains that elements removed in it led to: before Linux 6.2 they count as in use until its end. */
  readonly held = new Set<Chain>();
  /** Of the message that is being worked on, if its sender wants to hear of it. */
  notices: Notice[] | undefined;
  /** Whether it has changed anything. */
  hasEffect = false;
  private readonly changesAtEnd: (() => void)[] = [];
  private readonly undo: (() => void)[] = [];
  private readonly disordered = new Set<Map<string, Numbered>>();

  constructor(
    readonly now: number,
    /** Whether a table that is made in it is looked at after each message. */
    readonly isWary: boolean,
  ) {}

  /** A change that gets the transaction a number. */
  did(table: Table, kind: number, object: Notice['object'], undo: () => void): void {
    this.hasEffect = true;
    this.changed.add(table);
    this.undo.push(undo);
    this.notices?.push({ kind, object });
  }

  /** What goes along with a change. */
  also(undo: () => void): void {
    this.undo.push(undo);
  }

  /** What is done only when the whole transaction is taken. */
  later(change: () => void): void {
    this.changesAtEnd.push(change);
  }

  end(): void {
    for (const change of this.changesAtEnd) change();
  }

  /** What was done since is undone by `backTo`. */
  get place(): number {
    return this.undo.length;
  }

  backTo(place: number): void {
    while (this.undo.length > place) this.undo.pop()!();
    for (const objects of this.disordered) sortByHandle(objects);
    this.disordered.clear();
  }

  /** Takes something out of what a table has, or a table; put back, it has its former place. */
  takeOut<T extends Numbered & Notice['object']>(
    table: Table,
    kind: number,
    objects: Map<string, T>,
    key: string,
  ): void {
    const object = objects.get(key)!;
    objects.delete(key);
    this.did(table, kind, object, () => {
      objects.set(key, object);
      this.disordered.add(objects);
    });
  }

  /** @param count below 0 for jumps that go */
  jumpTo(chain: Chain, count = 1): void {
    chain.jumps += count;
    this.also(() => (chain.jumps -= count));
  }

  /** Those of all elements of a set go. */
  noJumpsOf({ targets }: NftSet): void {
    for (const [chain, count] of targets) {
      this.jumpTo(chain, -count);
      this.held.add(chain);
    }
  }

  /** @param by 1, or -1 for a rule that counts by it no more */
  use(counter: Counter, by: number): void {
    counter.uses += by;
    this.also(() => (counter.uses -= by));
  }

  bind(set: NftSet, binding: Binding): void {
    set.bindings.add(binding);
    const wasUnbound = this.unbound.delete(set);
    this.also(() => {
      set.bindings.delete(binding);
      if (wasUnbound) this.unbound.add(set);
    });
  }

  unbind(set: NftSet, binding: Binding): void {
    set.bindings.delete(binding);
    this.also(() => set.bindings.add(binding));
  }
}

/** In the order in which they were made. */
function sortByHandle(objects: Map<string, Numbered>): void {
  const sorted = [...objects].sort(([, one], [, other]) => one.handle - other.handle);
  objects.clear();
  for (const [key, object] of sorted) objects.set(key, object);
}
