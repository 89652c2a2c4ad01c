import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { setText } from '../../../src/adapters/nftables/netlink/set-layout.js';
import { renderTable } from '../../../src/adapters/nftables/render-text.js';
import type { Operation, SetDefinition, SetElement } from '../../../src/domain/nftables/layout/table.js';
import type { KernelChain } from '../../../src/domain/nftables/kernel/ruleset.js';
import type { TableContents } from '../nftables/table-contents.js';
import {
  NftCommitError,
  type NftFailure,
  type NftTransport,
  type SetState,
  type TableState,
} from '../../../src/adapters/nftables/transport.js';
import { KernelRejection } from './memory-nft-checks.js';
import { MemoryNftTable } from './memory-nft-table.js';

/** A reason to refuse the operation, or this element of it; undefined to let it pass. */
export type Refusal = (operation: Operation, element?: SetElement) => string | undefined;

/** What a refusal names: operation and element, the operation alone, or nothing. */
export type Blame = 'element' | 'operation' | 'nothing';

/**
 * nf_tables in memory: a fake kernel for tests of code that uses a transport, without root or kernel. It keeps
 * the tables `kube-proxy` of both families and applies the kernel's rules to transactions: all operations or none;
 * `EEXIST` for a map element with another value, a base chain with another hook, a set of other types; `ENOENT` for
 * what does not exist; `EBUSY` for deleting what is in use, as kernels before 6.2 judge it; `EINVAL` for lookups and
 * elements of other types than the set's; `ELOOP` and `EOPNOTSUPP` for chains that may not be reached from a hook.
 * Adding what already exists is not an error. A transaction that changes nothing is not numbered.
 *
 *     const kernel = new MemoryNftTransport();
 *     const backend = nftablesBackend('IPv4', kernel, new GenerationWatch(kernel), logger);
 *     kernel.refuse((operation, element) => (element?.key.startsWith('10.96.0.7 ') ? 'EINVAL' : undefined));
 *     kernel.tamper('IPv4', [{ op: 'flush-chain', chain: 'services' }]);
 *     console.log(kernel.dump('IPv4'));
 *
 * `contents` gives a table to walk packets through (`walk`).
 */
export class MemoryNftTransport implements NftTransport {
  private readonly tables = new Map<IpFamily, MemoryNftTable>();
  private readonly refusals = new Set<{ readonly refuse: Refusal; readonly blame: Blame }>();
  private failure: Error | undefined;
  private generationNumber = 1;
  private committed: { readonly family: IpFamily; readonly operations: readonly Operation[] }[] = [];
  private refused = 0;

  /** Transactions that succeeded, in order, without those of `tamper`. */
  get commits(): readonly { readonly family: IpFamily; readonly operations: readonly Operation[] }[] {
    return this.committed;
  }

  /** Operations in transactions that succeeded; elements are not counted separately. */
  get operationCount(): number {
    return this.committed.reduce((sum, { operations }) => sum + operations.length, 0);
  }

  /** Transactions that were refused. */
  get refusedCount(): number {
    return this.refused;
  }

  /** Forgets what `commits`, `operationCount` and `refusedCount` counted. */
  resetCounts(): void {
    this.committed = [];
    this.refused = 0;
  }

  async commit(family: IpFamily, operations: readonly Operation[]): Promise<number | undefined> {
    this.fail();
    if (operations.length === 0) return undefined;
    const isChanged = this.transact(family, operations, true);
    this.committed.push({ family, operations });
    return isChanged ? this.generationNumber : undefined;
  }

  async read(
    family: IpFamily,
    expected: readonly SetDefinition[],
    signal?: AbortSignal,
  ): Promise<TableState | undefined> {
    signal?.throwIfAborted();
    this.fail();
    const table = this.tables.get(family);
    if (!table) return undefined;
    const known = new Map(expected.map((set) => [set.name, setText(family, set)]));
    const chains = new Map<string, KernelChain>();
    for (const [name, { chain, rules }] of table.chains) {
      const hook = chain.hook && ({ ...chain.hook, policy: 'accept' } as const);
      chains.set(name, { name, number: chains.size, ...(hook && { hook }), rules });
    }
    const sets = new Map<string, SetState>();
    for (const [name, { set, elements }] of table.sets) {
      const layout = setText(family, set);
      const readable = known.get(name) === layout && set.dynamicSize === undefined;
      sets.set(name, { layout, elements: new Map(readable ? elements : []), count: elements.size });
    }
    return { chains, sets, counters: new Set(table.counters) };
  }

  async lookUp(
    family: IpFamily,
    { name }: SetDefinition,
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, SetElement>> {
    this.fail();
    const elements = this.tables.get(family)?.sets.get(name)?.elements;
    return new Map(
      keys.flatMap((key) => {
        const element = elements?.get(key);
        return element ? [[key, element] as const] : [];
      }),
    );
  }

  async select(
    family: IpFamily,
    { name }: SetDefinition,
    passes: (first: string) => boolean,
    signal?: AbortSignal,
  ): Promise<readonly string[]> {
    signal?.throwIfAborted();
    this.fail();
    const keys = this.tables.get(family)?.sets.get(name)?.elements.keys() ?? [];
    return [...keys].filter((key) => passes(key.split(' . ')[0]!));
  }

  async generation(): Promise<number> {
    this.fail();
    return this.generationNumber;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /**
   * Refuses transactions that contain what the predicate selects. It is called once for each element of operations that
   * have elements, and once without an element for each other operation. Several refusals may be active.
   * @returns lifts the refusal
   */
  refuse(refuse: Refusal, blame: Blame = 'element'): () => void {
    const rule = { refuse, blame };
    this.refusals.add(rule);
    return () => void this.refusals.delete(rule);
  }

  /** Every call rejects with this error: no kernel, no permission. @returns ends the outage */
  outage(error: Error): () => void {
    this.failure = error;
    return () => (this.failure = undefined);
  }

  /**
   * Changes the table as another program would, bypassing refusals and counts; the generation shows it.
   * @throws NftCommitError when the kernel would refuse that program as well
   */
  tamper(family: IpFamily, operations: readonly Operation[]): void {
    this.transact(family, operations, false);
  }

  /** Another program changed another table: the generation moves, our tables stay the same. */
  bystanderCommits(): void {
    this.generationNumber++;
  }

  /** The current table, or undefined when there is none. It is the table itself, not a copy. */
  contents(family: IpFamily): TableContents | undefined {
    return this.tables.get(family);
  }

  /** The table as `nft list table` shows it, in order of names; empty when there is none. */
  dump(family: IpFamily): string {
    const table = this.tables.get(family);
    if (!table) return '';
    return renderTable(family, {
      counters: [...table.counters].sort(),
      chains: sorted(table.chains),
      sets: sorted(table.sets).map(({ set, elements }) => ({ set, elements: sorted(elements) })),
    });
  }

  private fail(): void {
    if (this.failure) throw this.failure;
  }

  /** Applies all operations or, when one is refused, none. Returns whether that changed anything. */
  private transact(family: IpFamily, operations: readonly Operation[], refusable: boolean): boolean {
    const before = this.tables.get(family);
    before?.begin();
    try {
      if (refusable) this.refuseSome(family, operations);
      operations.forEach((operation, index) => this.step(family, operation, index));
      this.guarded(family, undefined, () => this.tables.get(family)?.check());
    } catch (error) {
      before?.rollback();
      if (before) this.tables.set(family, before);
      else this.tables.delete(family);
      if (refusable) this.refused++;
      throw error;
    }
    const isChanged = this.tables.get(family) !== before || before?.isChanged === true;
    if (isChanged) this.generationNumber++;
    return isChanged;
  }

  private step(family: IpFamily, operation: Operation, index: number): void {
    this.guarded(family, index, () => {
      const table = this.tables.get(family);
      if (operation.op === 'add-table') {
        if (!table) this.tables.set(family, new MemoryNftTable(family, operation.comment));
        return;
      }
      if (!table) throw new KernelRejection('ENOENT', 'table kube-proxy');
      if (operation.op === 'delete-table') this.tables.delete(family);
      else table.apply(operation);
    });
  }

  private guarded(family: IpFamily, operation: number | undefined, step: () => void): void {
    try {
      step();
    } catch (error) {
      if (!(error instanceof KernelRejection)) throw error;
      throw new NftCommitError(family, [failureAt(operation, error.element, error.message)]);
    }
  }

  private refuseSome(family: IpFamily, operations: readonly Operation[]): void {
    const failures: NftFailure[] = [];
    for (const { refuse, blame } of this.refusals) {
      operations.forEach((operation, index) => {
        const elements = 'elements' in operation ? operation.elements : [undefined];
        elements.forEach((element, at) => {
          const reason = refuse(operation, element);
          if (reason === undefined) return;
          const place = blame === 'element' && element !== undefined ? at : undefined;
          failures.push(failureAt(blame === 'nothing' ? undefined : index, place, reason));
        });
      });
    }
    if (failures.length > 0) throw new NftCommitError(family, failures);
  }
}

function failureAt(operation: number | undefined, element: number | undefined, reason: string): NftFailure {
  return {
    ...(operation === undefined ? {} : { operation }),
    ...(element === undefined ? {} : { element }),
    reason,
  };
}

function sorted<T>(named: ReadonlyMap<string, T>): readonly T[] {
  return [...named].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => value);
}
