import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { KernelRule } from '../../../src/domain/nftables/kernel/ruleset.js';
import type { ChainRules } from '../../../src/domain/nftables/layout/node-rules.js';
import type {
  ChainDefinition,
  Operation,
  SetDefinition,
  SetElement,
} from '../../../src/domain/nftables/layout/table.js';
import type { SetContents, TableContents } from '../nftables/table-contents.js';
import { checkElement, checkReach, checkRule, KernelRejection, verdictTarget } from './memory-nft-checks.js';

interface Chain extends ChainRules {
  rules: readonly KernelRule[];
}

interface SetOfElements extends SetContents {
  readonly elements: Map<string, SetElement>;
}

/**
 * One table as nf_tables keeps it, changed by operations under the kernel's rules; a `KernelRejection` names the broken
 * one. Every change records how to undo it, so that a transaction costs what is in it, also when it fails.
 */
export class MemoryNftTable implements TableContents {
  readonly chains = new Map<string, Chain>();
  readonly sets = new Map<string, SetOfElements>();
  readonly counters = new Set<string>();
  private undo: (() => void)[] = [];
  /** Chains that elements deleted in this transaction point to: before Linux 6.2 they are held until its end. */
  private held = new Set<string>();
  private reachChanged = false;

  constructor(
    readonly family: IpFamily,
    readonly comment: string,
  ) {}

  /** Starts a transaction: what follows can be rolled back to here. */
  begin(): void {
    this.undo = [];
    this.held = new Set();
    this.reachChanged = false;
  }

  /** Whether anything was done in this transaction. */
  get isChanged(): boolean {
    return this.undo.length > 0;
  }

  /** The kernel's final check of the whole table: loops, and statements that a hook does not allow. */
  check(): void {
    if (this.reachChanged) checkReach(this);
  }

  rollback(): void {
    for (const step of this.undo.reverse()) step();
    this.undo = [];
  }

  apply(operation: Exclude<Operation, { op: 'add-table' | 'delete-table' }>): void {
    switch (operation.op) {
      case 'add-chain':
        return this.addChain(operation.chain);
      case 'flush-chain': {
        const chain = this.chain(operation.chain);
        return chain.rules.length > 0 ? this.setRules(chain, []) : undefined;
      }
      case 'delete-chain':
        return this.deleteChain(operation.chain);
      case 'add-rule': {
        checkRule(this.family, operation.rule, this);
        const chain = this.chain(operation.chain);
        return this.setRules(chain, [...chain.rules, operation.rule]);
      }
      case 'add-counter':
        return this.addCounter(operation.counter);
      case 'delete-counter':
        return this.deleteCounter(operation.counter);
      case 'add-set':
        return this.addSet(operation.set);
      case 'delete-set':
        return this.deleteSet(operation.set.name);
      case 'add-elements': {
        const { set, elements } = this.set(operation.set.name);
        return eachElement(operation.elements, (element) => this.addElement(set, elements, element));
      }
      case 'delete-elements': {
        const { set, elements } = this.set(operation.set.name);
        return eachElement(operation.elements, (element) => this.deleteElement(set, elements, element));
      }
    }
  }

  private addChain(chain: ChainDefinition): void {
    const present = this.chains.get(chain.name);
    if (!present) {
      this.chains.set(chain.name, { chain, rules: [] });
      this.undo.push(() => this.chains.delete(chain.name));
    } else if (chain.hook && JSON.stringify(present.chain.hook) !== JSON.stringify(chain.hook)) {
      throw new KernelRejection('EEXIST', `chain ${chain.name} has another hook`);
    }
  }

  private setRules(chain: Chain, rules: readonly KernelRule[]): void {
    const before = chain.rules;
    chain.rules = rules;
    this.reachChanged = true;
    this.undo.push(() => (chain.rules = before));
  }

  private deleteChain(name: string): void {
    const chain = this.chain(name);
    if (this.pointsTo(name)) throw new KernelRejection('EBUSY', `chain ${name} is in use`);
    this.chains.delete(name);
    this.undo.push(() => this.chains.set(name, chain));
  }

  private addCounter(name: string): void {
    if (this.counters.has(name)) return;
    this.counters.add(name);
    this.undo.push(() => this.counters.delete(name));
  }

  private deleteCounter(name: string): void {
    if (!this.counters.has(name)) throw new KernelRejection('ENOENT', `counter ${name}`);
    const counts = ({ expressions }: KernelRule) =>
      expressions.some((expression) => expression.kind === 'count' && expression.counter === name);
    if ([...this.chains.values()].some(({ rules }) => rules.some(counts)))
      throw new KernelRejection('EBUSY', `counter ${name} is in use`);
    this.counters.delete(name);
    this.undo.push(() => this.counters.add(name));
  }

  private addSet(set: SetDefinition): void {
    const present = this.sets.get(set.name);
    if (!present) {
      this.sets.set(set.name, { set, elements: new Map() });
      this.undo.push(() => this.sets.delete(set.name));
    } else if (layout(present.set) !== layout(set)) {
      throw new KernelRejection('EEXIST', `set ${set.name} has other types`);
    }
  }

  private deleteSet(name: string): void {
    const set = this.set(name);
    const used = [...this.chains.values()].some(({ rules }) => rules.some((rule) => looksInto(rule, name)));
    if (used) throw new KernelRejection('EBUSY', `set ${name} is in use`);
    for (const { value } of set.elements.values()) this.hold(set.set, value);
    this.sets.delete(name);
    this.undo.push(() => this.sets.set(name, set));
  }

  private addElement(set: SetDefinition, elements: Map<string, SetElement>, element: SetElement): void {
    checkElement(this.family, set, element);
    const present = elements.get(element.key);
    if (present) {
      if (present.value !== element.value)
        throw new KernelRejection('EEXIST', `${set.name} { ${element.key} }`);
      return;
    }
    const target = verdictTarget(element.value);
    if (set.value === 'verdict' && target !== undefined) {
      this.chain(target);
      this.reachChanged = true;
    }
    elements.set(element.key, element);
    this.undo.push(() => elements.delete(element.key));
  }

  private deleteElement(set: SetDefinition, elements: Map<string, SetElement>, { key }: SetElement): void {
    const present = elements.get(key);
    if (!present) throw new KernelRejection('ENOENT', `${set.name} { ${key} }`);
    this.hold(set, present.value);
    elements.delete(key);
    this.undo.push(() => elements.set(key, present));
  }

  private hold({ value: type }: SetDefinition, value: string | undefined): void {
    const target = type === 'verdict' ? verdictTarget(value) : undefined;
    if (target !== undefined) this.held.add(target);
  }

  private pointsTo(chain: string): boolean {
    if (this.held.has(chain)) return true;
    const byRule = [...this.chains.values()].some(({ rules }) =>
      rules.some(({ expressions }) =>
        expressions.some((expression) => expression.kind === 'verdict' && expression.verdict.chain === chain),
      ),
    );
    return byRule || [...this.sets.values()].some(({ set, elements }) => leadsTo(set, elements, chain));
  }

  private chain(name: string): Chain {
    const chain = this.chains.get(name);
    if (!chain) throw new KernelRejection('ENOENT', `chain ${name}`);
    return chain;
  }

  private set(name: string): SetOfElements {
    const set = this.sets.get(name);
    if (!set) throw new KernelRejection('ENOENT', `set ${name}`);
    return set;
  }
}

/** What must be equal when an existing set is added again. */
function layout({ key, value, dynamicSize }: SetDefinition): string {
  return JSON.stringify([key, value, dynamicSize]);
}

function looksInto({ expressions }: KernelRule, set: string): boolean {
  return expressions.some((expression) => 'set' in expression && expression.set === set);
}

function leadsTo(set: SetDefinition, elements: ReadonlyMap<string, SetElement>, chain: string): boolean {
  return (
    set.value === 'verdict' && [...elements.values()].some(({ value }) => verdictTarget(value) === chain)
  );
}

/** Refusals name the element. */
function eachElement(elements: readonly SetElement[], step: (element: SetElement) => void): void {
  elements.forEach((element, index) => {
    try {
      step(element);
    } catch (error) {
      throw error instanceof KernelRejection ? error.atElement(index) : error;
    }
  });
}
