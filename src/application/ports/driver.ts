import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { DesiredState, AdoptedRules } from '../../domain/reconcile/desired-state.js';
import type { ServiceFailure, StartOptions } from './backend.js';
import { NamedError } from '../../domain/model/named-error.js';
import type { FrontendAddress } from '../../domain/conntrack/frontend-map.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { RuleDifference } from '../../domain/reconcile/rule-difference.js';

/**
 * What only one backend knows: how to compile a service port, write, read back, and compare. The reconciler
 * (`reconcile/reconciler.ts`) does the rest, for every backend alike: it decides what is desired, finds the service port that
 * the kernel rejects, and repairs. It makes one call at a time.
 *
 * A driver must have what stands here. What it may have besides are the abilities below it: its class names those that it implements.
 *
 * @typeParam Rules service port rules
 * @typeParam Change collects what a batch of replacements does to the desired state
 * @typeParam Actual what was read from the kernel
 */
export interface Driver<Rules, Change, Actual>
  extends
    Partial<PendingDeletes>,
    Partial<CompileInputs>,
    Partial<Warnings>,
    Partial<Adoption<Rules, Actual>>,
    Partial<Recognition<Actual>>,
    Partial<Comparison<Actual>>,
    Partial<DelayedRemoval> {
  readonly mode: string;
  readonly family: IpFamily;
  /** Shows whether another program wrote to what this driver writes. */
  readonly watch: WriteWatch;
  /** What the kernel should hold. Only the reconciler changes it; `begin` empties it. */
  readonly desired: DesiredState<Rules, Change>;

  /**
   * Forgets everything and learns what this host can do. First call; again at each new start. If it throws, the start fails as a
   * whole, and is repeated.
   */
  begin(node: NodeNetwork, options: StartOptions): Promise<void> | void;

  /**
   * The rules of one service port. The same entry makes the same rules.
   * @param former its present rules; parts that stay the same may be reused
   * @throws if the entry cannot be compiled: the service port keeps its rules, is reported, and retried
   */
  compile(entry: ForwardingEntry, former: Rules | undefined): Rules;

  /** An empty change. */
  newChange(): Change;

  /**
   * Writes a change that the desired state already contains, and any change of the node. Reads nothing. Relies on what was written
   * before, so it is not repeated: after a failure the reconciler reads the kernel and repairs it, at once if it was a refusal.
   * @throws {RefusedError} if the kernel refused something that cannot be written without the rest
   */
  commit(change: Change, node: NodeNetwork): Promise<WriteResult>;

  /** Reads what the kernel holds, or where it differs from the desired state. If it throws, the caller's call fails as a whole. */
  read(options?: ReadOptions): Promise<Actual>;

  /**
   * Writes the kernel's differences from the desired state and the node; nothing if there are none. Idempotent: what it could not
   * write is found again by the next reading. After a refusal the reconciler reads again, and repairs with other rules.
   * @throws {RefusedError} as `commit` does
   */
  repair(actual: Actual): Promise<WriteResult>;

  /** Removes everything that this backend ever creates, and nothing else. Needs no `begin`. Idempotent. */
  cleanup(): Promise<void>;

  /** Releases sockets and processes; rules stay. Idempotent. */
  close(): Promise<void>;
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
   * Service ports of which the kernel refused a part while it accepted the rest, for backends that write in such small
   * steps. After a commit everything is read back and repaired; one that was to be removed gets its rules back first, and is removed
   * as a whole later. After a repair it stays like that.
   */
  readonly failed?: readonly ServiceFailure[];
}

/**
 * The kernel refused a write because of what is in it, and with it everything that belongs to it. Every other error of a
 * write says nothing about its content (no memory, a lock, no permission, a lost acknowledgement, a tool that was
 * killed): nobody is to blame, and the same write may succeed later.
 */
export class RefusedError extends NamedError {
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

/**
 * For drivers whose compiled rules depend on more than the forwarding entry. Without it they must not. Whoever has one of its calls
 * needs both.
 */
export interface CompileInputs {
  /**
   * Learns what compiling these changes requires; called before they are compiled, and before removed service ports are
   * removed. Idempotent. If it throws, nothing has been compiled or written: the call fails as a whole, and is repeated.
   * @param node the node for which they are compiled
   */
  prepare(changes: Iterable<ForwardingChange>, node: NodeNetwork): Promise<void> | void;

  /** Whether compiled rules depend on what differs between these two (`Backend.rulesDependOn`). Never throws. */
  rulesDependOn(before: NodeNetwork, after: NodeNetwork): boolean;
}

/** For drivers that cannot always program what is asked for, and then something else. */
export interface Warnings {
  /** How what is programmed deviates from what the entry asks for, for people. Called after each write. Never throws. */
  warningFor(entry: ForwardingEntry): string | undefined;
}

/**
 * For drivers whose kernel shows whose rules are. Without it a start cannot keep unexplained rules, a refused service port goes back
 * to its last good rules only, and a refused repair fails as a whole.
 */
export interface Adoption<Rules, Actual> {
  /**
   * The rules that the kernel holds, by whose they are: those that an earlier process left, and those to which a refused
   * service port goes back. With them as its rules, a repair of `actual` writes nothing of the service port. Changes nothing,
   * and never throws: what it cannot read is nobody's.
   */
  adopted(actual: Actual): AdoptedRules<Rules>;

  /** UDP frontends that lead to endpoints in `actual`. Called once after each start. Never throws. */
  udpFrontends(actual: Actual): readonly FrontendAddress[];

  /** Those of these UDP frontends that no longer lead to endpoints, as the same objects. Never throws. */
  lost(frontends: readonly FrontendAddress[]): readonly FrontendAddress[];
}

/** For drivers that recognize service ports by marks of an earlier write (`ReadOptions.mayRecognize`). */
export interface Recognition<Actual> {
  /** Whether service ports were only recognized, so that the kernel may lack some of their rules: everything is verified soon. */
  isPartial(actual: Actual): boolean;
}

/** For drivers that can say what differs. Without it nobody is told (`Backend.differences`). */
export interface Comparison<Actual> {
  /**
   * What separates `actual` from the desired state and the node, line by line in the words of the mode's tool: what `repair` would
   * change. What stays for a while although it is unused is no difference. `undefined` among them only gives other work its turn.
   * Changes nothing; may be left early. If it throws, whoever asked is told; nobody retries.
   */
  differences(actual: Actual): DifferenceLines;
}

/** For drivers that leave what is unused in the kernel for a while, because packets or connections may still need it. */
export interface DelayedRemoval {
  /**
   * Removes what is unused and is needed no longer. Called at each verification, also at those that compare nothing, and before each
   * repair. Idempotent. Never rejects for what it cannot remove: that is logged, and tried again at the next call or by the next
   * repair.
   */
  removeUnused(): Promise<void>;
}

/** For drivers that write on where something cannot be removed. */
export interface PendingDeletes {
  /** Whether the kernel still has something that was to be removed, since it refused. A repair removes it; nobody else changed it. */
  readonly hasPendingDeletes: boolean;
  /** `Backend.failedDeletes`. Missing: nothing leads to what stays. */
  readonly failedDeletes?: readonly string[];
}

/** Lines that are made while they are taken. */
export type DifferenceLines = Iterable<RuleDifference | undefined>;

/** Shows cheaply whether another program wrote. How it tells our own writes from those of others is the backend's business. */
export interface WriteWatch {
  /** Whether every write of another program is visible. If not, only the worst are, such as a flush of all rules. */
  readonly seesEveryWrite: boolean;

  /**
   * A number that stays the same until another program writes. Rules that were right in the present epoch still are.
   * Undefined if unknown. Cheap: called every second.
   */
  epoch(): Promise<number | undefined>;
}
