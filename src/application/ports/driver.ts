import type { FrontendAddress } from '../../domain/conntrack/frontend-map.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { AdoptedRules } from '../../domain/reconcile/adopted-rules.js';
import type { DesiredState } from '../../domain/reconcile/desired-state.js';
import type { ServiceFailure, StartOptions } from './backend.js';
import type { WriteWatch } from './write-watch.js';

/**
 * What only one backend can know: how to compile a service port, write, read back, and compare. The reconciler
 * (`reconcile/reconciler.ts`) does the rest, for every backend alike: it decides what is desired, finds the service port
 * behind a refusal, and repairs. It makes one call at a time.
 *
 * @typeParam Rules everything that one service port asks for
 * @typeParam Change collects what a batch of replacements does to the desired state
 * @typeParam Actual what was read of the kernel
 */
export interface Driver<Rules, Change, Actual> {
  readonly mode: string;
  readonly family: IpFamily;
  /** Tells whether another program wrote to what this driver writes. */
  readonly watch: WriteWatch;
  /** What the kernel should hold. Only the reconciler changes it; `begin` empties it. */
  readonly desired: DesiredState<Rules, Change>;

  /** Forgets everything and learns what this host can do. First call; again at each new start. */
  begin(node: NodeNetwork, options: StartOptions): Promise<void> | void;

  /**
   * Learns what compiling these takes; called before they are compiled, and before those that are gone are removed.
   * @param node for which they are compiled
   */
  prepare?(changes: Iterable<ForwardingChange>, node: NodeNetwork): Promise<void> | void;

  /** Whether compiled rules depend on what differs between these two (`Backend.rulesDependOn`). Missing: they never do. */
  rulesDependOn?(before: NodeNetwork, after: NodeNetwork): boolean;

  /**
   * The rules of one service port.
   * @param former those that it has now; parts that stay the same may be taken from them
   * @throws when the entry cannot be compiled; the service port then keeps what it has
   */
  compile(entry: ForwardingEntry, former: Rules | undefined): Rules;

  /** What is programmed differently than the entry asks for, for people. */
  noteOn?(entry: ForwardingEntry): string | undefined;

  /** An empty change. */
  newChange(): Change;

  /**
   * Writes a change that the desired state already has, and what else of the node is different. Reads nothing.
   * @throws {RefusedError} when the kernel refused something that cannot be written without the rest
   */
  commit(change: Change, node: NodeNetwork): Promise<WriteResult>;

  /** Reads what the kernel holds. Rejects with the signal's reason soon after it is aborted. */
  read(signal?: AbortSignal): Promise<Actual>;

  /**
   * Writes what separates the kernel from the desired state and the node; nothing where it is equal.
   * @throws {RefusedError} as `commit` does
   */
  repair(actual: Actual): Promise<WriteResult>;

  /** The rules that an earlier process left. Missing where the kernel does not tell whose they are. */
  adopted?(actual: Actual): AdoptedRules<Rules>;

  /** UDP frontends that led to endpoints in `actual`, and do not any more. Missing where the driver cannot tell. */
  lost?(actual: Actual): readonly FrontendAddress[];

  /** Removes what is unused and had to stay for a while. Called at each verification; never rejects for what it cannot remove. */
  removeUnused?(): Promise<void>;

  /** Removes everything that this backend ever makes, and nothing else. Needs no `begin`. */
  cleanup(): Promise<void>;

  /** Releases sockets and processes; rules stay. Idempotent. */
  close(): Promise<void>;
}

/** How a write went. */
export interface WriteResult {
  /** Steps written; 0 when everything was right. */
  readonly written: number;
  /**
   * Service ports of which the kernel refused a part while it took the rest, where a backend writes in such small steps.
   * After a commit everything is read back and repaired; after a repair that is how it stays.
   */
  readonly failed?: readonly ServiceFailure[];
}

/** The kernel refused a write, and with it what belongs together with it. */
export class RefusedError extends Error {
  /**
   * @param culprits the service ports that the kernel named, each with the reason
   * @param suspects all service ports for which the refused write had something new
   * @param isPartial an earlier part of the write stands
   */
  constructor(
    cause: Error,
    readonly culprits: ReadonlyMap<ServicePortKey, string>,
    readonly suspects: Iterable<ServicePortKey>,
    readonly isPartial: boolean,
  ) {
    super(cause.message, { cause });
    this.name = 'RefusedError';
  }
}
