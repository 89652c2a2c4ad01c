import type { IpFamily } from '../../domain/net/ip-family.js';
import type { KernelChain } from '../../domain/nftables/kernel/ruleset.js';
import type { Operation, SetDefinition, SetElement } from '../../domain/nftables/layout/table.js';
import { firstReasons } from '../tool-programs.js';
import { isTemporary } from '../netlink/errors.js';
import { NamedError } from '../../domain/model/named-error.js';

/**
 * Access to the kernel's nf_tables, or to a table in memory in tests. It is independent of services; it commits
 * transactions and reads the table `kube-proxy` of one family back.
 */
export interface NftTransport {
  /**
   * Applies the operations in order, all or none, as one transaction. Resolves when the kernel has committed. Rejects
   * with NftCommitError if the kernel rejected: then nothing has changed. Does not retry. Not reentrant: the caller
   * waits for one call to settle before the next. An empty list does nothing.
   * @returns the generation that the kernel gave it; undefined if it changed nothing, or if the kernel's answer was lost
   */
  commit(family: IpFamily, operations: readonly Operation[]): Promise<number | undefined>;

  /**
   * Reads the whole table, or undefined if there is none. A read disturbed by a concurrent commit is repeated a few
   * times. If other programs commit all the time, the result may contain all, part or none of a change that another
   * program makes to this table meanwhile; the generation before the read then differs from the one after it, so the
   * change is noticed later. Large tables are read in pieces that yield to the event loop. Elements of dynamic sets are
   * omitted. `expected` names the sets with a layout known to the caller; elements of other sets are omitted. Rejects with
   * the signal's reason soon after it is aborted.
   */
  read(
    family: IpFamily,
    expected: readonly SetDefinition[],
    signal?: AbortSignal,
  ): Promise<TableState | undefined>;

  /**
   * The elements of these keys that the set has, at a cost that does not depend on its size. Yields to the event loop now and
   * then; other calls may run in between.
   */
  lookUp(
    family: IpFamily,
    set: SetDefinition,
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, SetElement>>;

  /**
   * The keys of a set's elements whose first component, as text, passes; none if there is no such set. Other than `read` it takes
   * elements that packets have added. It lists the whole set, without blocking: other calls run meanwhile, and the event loop
   * gets its turns. What is added or removed meanwhile, also by the kernel's growing or shrinking of the set, may hide others.
   * Rejects with the signal's reason soon after it is aborted.
   */
  select(
    family: IpFamily,
    set: SetDefinition,
    passes: (first: string) => boolean,
    signal?: AbortSignal,
  ): Promise<readonly string[]>;

  /**
   * The number of the last nf_tables transaction in this network namespace that changed something, whichever program
   * committed it. Cheap enough to call every second.
   */
  generation(): Promise<number>;

  /** Releases its socket. Idempotent. */
  close(): Promise<void>;
}

/** The kernel's table. */
export interface TableState {
  /** No packet meets its chains. */
  readonly isDormant?: boolean;
  readonly chains: ReadonlyMap<string, KernelChain>;
  readonly sets: ReadonlyMap<string, SetState>;
  /** The names of its counters. */
  readonly counters: ReadonlySet<string>;
}

export interface SetState {
  /** Its types and sizes, as `setText` describes them. */
  readonly layout: string;
  /** By key. */
  readonly elements: ReadonlyMap<string, SetElement>;
  /** How many elements the set has, read or not. Undefined if the kernel does not report it. */
  readonly count?: number | undefined;
}

/** One rejection of the kernel in a transaction. */
export interface NftFailure {
  /** Index into the operations of the commit, where known. */
  readonly operation?: number;
  /** Index into the elements of that operation, where known. */
  readonly element?: number;
  /** Begins with the kernel's name for the error (`EEXIST`), or names the part that cannot be written. */
  readonly reason: string;
}

/** A transaction was refused; the kernel is unchanged, unless its answer was lost. */
export class NftCommitError extends NamedError {
  /** The same transaction may be taken later: nothing in it is to blame. */
  readonly isTemporary: boolean;

  constructor(
    readonly family: IpFamily,
    readonly failures: readonly NftFailure[],
  ) {
    const temporary = failures.some(({ reason }) => isTemporary(reason));
    const did = temporary ? 'cannot accept a transaction now' : 'rejected a transaction';
    super(`nftables ${did} on table kube-proxy (${family}): ${firstReasons(failures.map(describe))}`);
    this.isTemporary = temporary;
  }
}

function describe({ operation, element, reason }: NftFailure): string {
  if (operation === undefined) return reason;
  return `${reason} at operation ${operation}${element === undefined ? '' : `, element ${element}`}`;
}

/** Required kernel features for nftables mode; some kernels have nf_tables without address translation. The last step always fails. */
const OPERATIONS: readonly Operation[] = [
  { op: 'add-table', comment: 'rules for kube-proxy' },
  { op: 'add-chain', chain: { name: 'trial', hook: { type: 'nat', hook: 'prerouting', priority: -100 } } },
  { op: 'delete-chain', chain: 'trial-that-is-none' },
];

/**
 * Checks whether the kernel would accept our kind of table, with a transaction that it must reject as a whole because
 * of its last step. Nothing changes.
 * @returns what it rejects before that; undefined if it rejects nothing else, or does not permit this process to check
 */
export async function kernelTrial(transport: NftTransport): Promise<string | undefined> {
  try {
    await transport.commit('IPv4', OPERATIONS);
    return undefined;
  } catch (error) {
    if (!(error instanceof NftCommitError) || error.isTemporary) return undefined;
    const refused = error.failures.find(({ operation }) => operation !== OPERATIONS.length - 1);
    if (!refused) return undefined;
    const step = OPERATIONS[refused.operation ?? -1]?.op ?? 'nf_tables';
    return `the kernel rejects ${step}: ${refused.reason}`;
  }
}

/** The oldest kernel that nftables mode supports (docs/internals/spec/nftables.md §1.1). */
const OLDEST = [5, 13] as const;

/**
 * Whether nftables mode may run on a kernel of that release (`6.1.0-18-amd64`). Older kernels would do, but on hosts
 * that old the `nft` tool of other programs cannot cope with our table.
 */
export function kernelSuits(release: string): boolean {
  const [major = 0, minor = 0] = release.split('.').map((part) => parseInt(part, 10));
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}
