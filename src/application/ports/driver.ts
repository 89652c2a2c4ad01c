import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { DesiredState, AdoptedRules } from '../../domain/reconcile/desired-state.js';
import type { ServiceFailure, StartOptions } from './backend.js';
import { NamedError } from '../../domain/model/named-error.js';
import type { FrontendAddress } from '../../domain/conntrack/frontend-map.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { RuleDifference } from '../../domain/reconcile/rule-difference.js';

/**
 * The backend-specific parts: compiling a service port, and writing and reading the kernel. The reconciler
 * (`reconcile/reconciler.ts`) does the rest, for every backend alike: it decides what is desired, finds the service port that
 * the kernel rejects, and repairs. It makes one call at a time.
 *
 * @typeParam Rules service port rules
 * @typeParam Change collects what a batch of replacements does to the desired state
 */
export interface Driver<Rules, Change> {
  /** Shows whether another program wrote to what this driver writes. */
  readonly watch: WriteWatch;
  /** The desired content of the kernel. Only the reconciler changes it; `prepare` empties it for a start. */
  readonly desired: DesiredState<Rules, Change>;

  /**
   * Learns what compiling these changes requires. Called before they are compiled, and before removed service ports are removed.
   * Idempotent. If it throws, nothing has been compiled or written: the call fails as a whole, and is repeated.
   * @param node the node for which they are compiled
   * @param start present at each start, which is the first call: everything is forgotten, and what this host can do is learned
   */
  prepare(changes: Iterable<ForwardingChange>, node: NodeNetwork, start?: StartOptions): Promise<void> | void;

  /**
   * The rules of one service port. The same entry makes the same rules, as long as `prepare` learns the same.
   * @param former its present rules; parts that stay the same may be reused
   * @param warn takes, for people, how the rules deviate from the request of the entry
   * @throws if the entry cannot be compiled: the service port keeps its rules, is reported, and retried
   */
  compile(entry: ForwardingEntry, former: Rules | undefined, warn: (text: string) => void): Rules;

  /**
   * Writes a change that the desired state already contains, and any change of the node. Reads nothing. Relies on what was written
   * before, so it is not repeated: after a failure the reconciler reads the kernel and repairs it, immediately if it was a rejection.
   * @throws {RejectedError} if the kernel rejected something that cannot be written without the rest
   */
  commit(change: Change, node: NodeNetwork): Promise<WriteResult>;

  /** Reads what the kernel holds. If it throws, the caller's call fails as a whole. */
  read(options?: ReadOptions): Promise<KernelSnapshot<Rules>>;

  /** Removes everything that this backend ever creates, and nothing else. Needs no `prepare`. Idempotent. */
  cleanup(): Promise<void>;

  /** Releases sockets and processes; rules stay. Idempotent. */
  close(): Promise<void>;

  /** Whether compiled rules depend on what differs between these two (`Backend.rulesDependOn`). Never throws. Missing: they never do. */
  rulesDependOn?(before: NodeNetwork, after: NodeNetwork): boolean;

  /**
   * Removes what is unused and what no packet or connection needs any longer. Called at each verification, also at those that
   * compare nothing, and before each repair. Idempotent. Never rejects for what it cannot remove: that is logged, and tried again at
   * the next call or by the next repair.
   */
  removeUnused?(): Promise<void>;

  /**
   * Undefined if everything that was to be removed is gone. Otherwise the kernel still has something, since it refused: the next
   * repair removes it, although no other program changed anything. The elements are `Backend.failedDeletes`; none if nothing leads to
   * what stays.
   */
  readonly pendingDeletes?: readonly string[] | undefined;
}

/**
 * The state of the kernel when it was read, as far as a driver can determine it. Without `adopted` a start cannot keep unexplained rules, a
 * refused service port goes back to its last good rules only, and a refused repair fails as a whole.
 */
export interface KernelSnapshot<Rules> {
  /**
   * Writes the kernel's differences from the desired state and the node; nothing if there are none. Idempotent: what it could not
   * write is found again by the next reading. After a rejection the reconciler reads again, and repairs with other rules.
   * @throws {RejectedError} as `Driver.commit` does
   */
  repair(): Promise<WriteResult>;

  /**
   * The kernel's differences from the desired state and the node, line by line in the words of the mode's tool: what `repair` would
   * change. What stays for a while although it is unused is no difference. `undefined` among them only gives other work its turn.
   * Changes nothing; may be left early. If it throws, the error is reported, without a retry.
   */
  differences?(): DifferenceLines;

  /**
   * The rules that the kernel holds, by whose they are: those that an earlier process left, and those to which a refused
   * service port goes back. With them as its rules, `repair` writes nothing of the service port. Changes nothing,
   * and never throws: unreadable rules belong to no service port.
   */
  adopted?(): AdoptedRules<Rules>;

  /** UDP frontends that lead to endpoints. Called once after each start. Never throws. */
  udpFrontends?(): readonly FrontendAddress[];

  /** Service ports were only recognized, so that the kernel may lack some of their rules: everything is verified soon. */
  readonly isPartial?: boolean;
}

/** How to read. */
export interface ReadOptions {
  /** Whether service ports may be recognized by marks that an earlier write left, without reading all their rules. */
  readonly mayRecognize?: boolean;
  /** The read rejects with its reason soon after it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** The outcome of a write. */
export interface WriteResult {
  /** Steps written; 0 when everything was right. */
  readonly written: number;
  /**
   * Service ports of which the kernel rejected a part while it accepted the rest, for backends that write in such small
   * steps. After a commit everything is read back and repaired; one that was to be removed gets its rules back first, and is removed
   * as a whole later. After a repair it stays like that.
   */
  readonly failed?: readonly ServiceFailure[];
}

/**
 * The kernel rejected a write because of what is in it, and with it everything that belongs to it. Every other error of a
 * write does not concern its content (no memory, a lock, no permission, a lost acknowledgement, a tool that was
 * killed): no service port is blamed, and the same write may succeed later.
 */
export class RejectedError extends NamedError {
  readonly suspects: ReadonlySet<ServicePortKey>;

  /**
   * @param rejectedPorts the service ports that the kernel rejected by name, each with the reason
   * @param suspects all service ports for which the refused write had something new
   * @param isPartial an earlier part of the write has been committed
   */
  constructor(
    cause: Error,
    readonly rejectedPorts: ReadonlyMap<ServicePortKey, string>,
    suspects: Iterable<ServicePortKey>,
    readonly isPartial: boolean,
  ) {
    super(cause.message, { cause });
    this.suspects = new Set(suspects);
  }
}

/** Lines that are made while they are taken. */
export type DifferenceLines = Iterable<RuleDifference | undefined>;

/** Shows cheaply whether another program wrote. The backend distinguishes our own writes from those of others. */
export interface WriteWatch {
  /** Whether every write of another program is visible. If not, only the worst are, such as a flush of all rules. */
  readonly seesEveryWrite: boolean;

  /**
   * A number that stays the same until another program writes. Rules that were right in the present epoch still are.
   * Undefined if unknown. Cheap: called every second.
   */
  epoch(): Promise<number | undefined>;
}
