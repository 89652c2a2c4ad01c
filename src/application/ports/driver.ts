import type { FrontendAddress } from '../../domain/conntrack/frontend-map.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { AdoptedRules } from '../../domain/reconcile/adopted-rules.js';
import type { DesiredState } from '../../domain/reconcile/desired-state.js';
import type { RuleDifference } from '../../domain/reconcile/rule-difference.js';
import type { ServiceFailure, StartOptions } from './backend.js';
import type { WriteWatch } from './write-watch.js';

/**
 * What only one backend knows: how to compile a service port, write, read back, and compare. The reconciler
 * (`reconcile/reconciler.ts`) does the rest, for every backend alike: it decides what is desired, finds the culprit of
 * a refusal, and repairs. It makes one call at a time.
 *
 * @typeParam Rules service port rules
 * @typeParam Change collects what a batch of replacements does to the desired state
 * @typeParam Actual what was read from the kernel
 */
export interface Driver<Rules, Change, Actual> {
  readonly mode: string;
  readonly family: IpFamily;
  /** Shows whether another program wrote to what this driver writes. */
  readonly watch: WriteWatch;
  /** What the kernel should hold. Only the reconciler changes it; `begin` empties it. */
  readonly desired: DesiredState<Rules, Change>;

  /** Forgets everything and learns what this host can do. First call; again at each new start. */
  begin(node: NodeNetwork, options: StartOptions): Promise<void> | void;

  /**
   * Prepares what compiling these changes requires; called before they are compiled, and before removed service ports
   * are removed.
   * @param node the node for which they are compiled
   */
  prepare?(changes: Iterable<ForwardingChange>, node: NodeNetwork): Promise<void> | void;

  /** Whether compiled rules depend on what differs between these two (`Backend.rulesDependOn`). Missing: they never do. */
  rulesDependOn?(before: NodeNetwork, after: NodeNetwork): boolean;

  /**
   * The rules of one service port.
   * @param former its present rules; parts that stay the same may be reused
   * @throws if the entry cannot be compiled; the service port then keeps its rules
   */
  compile(entry: ForwardingEntry, former: Rules | undefined): Rules;

  /** How what is programmed deviates from what the entry asks for, for people. */
  noteOn?(entry: ForwardingEntry): string | undefined;

  /** An empty change. */
  newChange(): Change;

  /**
   * Writes a change that the desired state already contains, and any change of the node. Reads nothing.
   * @throws {RefusedError} if the kernel refused something that cannot be written without the rest
   */
  commit(change: Change, node: NodeNetwork): Promise<WriteResult>;

  /** Reads what the kernel holds, or where it differs from the desired state. */
  read(options?: ReadOptions): Promise<Actual>;

  /** Whether service ports were only recognized, so that the kernel may lack some of their rules. Missing: never. */
  isPartial?(actual: Actual): boolean;

  /**
   * Writes the kernel's differences from the desired state and the node; nothing if there are none.
   * @throws {RefusedError} as `commit` does
   */
  repair(actual: Actual): Promise<WriteResult>;

  /**
   * What separates `actual` from the desired state and the node, line by line in the words of the mode's tool: what `repair` would
   * change. What stays for a while although it is unused is no difference. `undefined` among them only gives other work its turn.
   * Changes nothing; may be left early. Missing if the driver cannot tell.
   * @param signal of the read that belongs to it, for drivers that read more here
   */
  differences?(actual: Actual, signal?: AbortSignal): DifferenceLines | Promise<DifferenceLines>;

  /**
   * The rules that the kernel holds, by whose they are: those that an earlier process left, and those to which a refused
   * service port goes back. With them as its rules, a repair of `actual` writes nothing of the service port. Missing if
   * the kernel does not show whose rules are; then a refused repair fails as a whole.
   */
  adopted?(actual: Actual): AdoptedRules<Rules>;

  /** UDP frontends that led to endpoints in `actual`, and no longer do. Missing if the driver cannot tell. */
  lost?(actual: Actual): readonly FrontendAddress[];

  /** Removes what is unused and had to stay for a while. Called at each verification; never rejects for what it cannot remove. */
  removeUnused?(): Promise<void>;

  /** Removes everything that this backend ever creates, and nothing else. Needs no `begin`. */
  cleanup(): Promise<void>;

  /** Releases sockets and processes; rules stay. Idempotent. */
  close(): Promise<void>;
}

/** Lines that are made while they are taken. */
export type DifferenceLines = Iterable<RuleDifference | undefined>;

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
   * steps. After a commit everything is read back and repaired; after a repair it stays like that.
   */
  readonly failed?: readonly ServiceFailure[];
}

/**
 * The kernel refused a write because of what is in it, and with it everything that belongs to it. Every other error of a
 * write says nothing about its content (no memory, a lock, no permission, a lost acknowledgement, a tool that was
 * killed): nobody is to blame, and the same write may succeed later.
 */
export class RefusedError extends Error {
  readonly suspects: ReadonlySet<ServicePortKey>;

  /**
   * @param culprits the service ports that the kernel named, each with the reason
   * @param suspects all service ports for which the refused write had something new
   * @param isPartial an earlier part of the write has been committed
   */
  constructor(
    cause: Error,
    readonly culprits: ReadonlyMap<ServicePortKey, string>,
    suspects: Iterable<ServicePortKey>,
    readonly isPartial: boolean,
  ) {
    super(cause.message, { cause });
    this.name = 'RefusedError';
    this.suspects = new Set(suspects);
  }
}
