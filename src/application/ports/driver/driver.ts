import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import type { ServicePortKey } from '../../../domain/model/service-port-name.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { DesiredState } from '../../../domain/reconcile/desired-state.js';
import type { ServiceFailure, StartOptions } from '../backend.js';
import type {
  Adoption,
  Comparison,
  DelayedRemoval,
  Notes,
  OwnRemains,
  Recognition,
  Surroundings,
} from './abilities.js';
import type { WriteWatch } from './write-watch.js';
import { NamedError } from '../../../domain/model/named-error.js';

/**
 * What only one backend knows: how to compile a service port, write, read back, and compare. The reconciler
 * (`reconcile/reconciler.ts`) does the rest, for every backend alike: it decides what is desired, finds the culprit of
 * a refusal, and repairs. It makes one call at a time.
 *
 * A driver must have what stands here. What it may have besides are the abilities of `abilities.ts`: its class names those
 * that it implements.
 *
 * @typeParam Rules service port rules
 * @typeParam Change collects what a batch of replacements does to the desired state
 * @typeParam Actual what was read from the kernel
 */
export interface Driver<Rules, Change, Actual>
  extends
    Partial<OwnRemains>,
    Partial<Surroundings>,
    Partial<Notes>,
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
    this.suspects = new Set(suspects);
  }
}
