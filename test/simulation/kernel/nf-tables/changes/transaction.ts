import type { Binding, Chain, NftSet, Table } from '../objects.js';

/** What a message did, for those who want to hear of it. */
export interface Notice {
  /** The lower byte of the type. */
  readonly message: number;
  readonly object: object;
}

/** One batch: what it has done so far, how to undo that, and what is to be judged at its end. */
export class Transaction {
  /** By their numbers in this batch. */
  readonly sets = new Map<number, NftSet>();
  readonly rules = new Map<number, object>();
  readonly changed = new Set<Table>();
  /** Sets without a name that no rule looks into yet. */
  readonly unbound = new Set<NftSet>();
  /** Chains that elements removed in it led to: before Linux 6.2 they count as in use until its end. */
  readonly held = new Set<Chain>();
  /** Of the message that is being worked on, if its sender wants to hear of it. */
  notices: Notice[] | undefined;
  private readonly undo: (() => void)[] = [];
  private steps = 0;

  constructor(
    /** The port of the sender. */
    readonly port: number,
    readonly now: number,
    /** Whether a table that is made in it is looked at after each message. */
    readonly isWary: boolean,
  ) {}

  /** Whether it has changed anything. */
  get hasEffect(): boolean {
    return this.steps > 0;
  }

  /** A change that gets the transaction a number. */
  did(table: Table, message: number, object: object, undo: () => void): void {
    this.steps++;
    this.changed.add(table);
    this.undo.push(undo);
    this.notices?.push({ message, object });
  }

  /** What goes along with a change. */
  also(undo: () => void): void {
    this.undo.push(undo);
  }

  /** What was done since is undone by `backTo`. */
  get place(): number {
    return this.undo.length;
  }

  backTo(place: number): void {
    while (this.undo.length > place) this.undo.pop()!();
  }

  jumpTo(chain: Chain): void {
    chain.jumps++;
    this.also(() => chain.jumps--);
  }

  noJumpTo(chain: Chain): void {
    chain.jumps--;
    this.also(() => chain.jumps++);
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
