import type { FrontendAddress } from '../../domain/conntrack/frontend-map.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { ServicePortKey, ServicePortName } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { RuleDifference } from '../../domain/reconcile/rule-difference.js';

/**
 * Programs one family's forwarding into something that forwards: the kernel, a table in memory, an embedder's own target.
 *
 * The caller makes one call at a time and waits for it. Every call is idempotent: the same input again writes nothing.
 * A service port that cannot be programmed is reported in the result, keeps what it had, and never stops the others;
 * the caller retries it. A call rejects only if nothing at all can be programmed; it may then be repeated.
 */
export interface Backend {
  readonly mode: string;
  readonly family: IpFamily;

  /** Programs exactly these entries, and adopts what is already right. First call; repeated after a rejection. */
  start(entries: Iterable<ForwardingEntry>, node: NodeNetwork, options?: StartOptions): Promise<ApplyResult>;

  /**
   * Applies changes. Cost depends on the changes; reads nothing back. A service port whose removal failed is reported
   * as well, and stays until a later call removes it.
   * @param signal ends a long recovery early: what was not tried is reported as waiting
   */
  apply(changes: readonly ForwardingChange[], node: NodeNetwork, signal?: AbortSignal): Promise<ApplyResult>;

  /**
   * Compares the kernel with what was programmed and repairs what differs. Rejects with the signal's reason if it is
   * aborted while comparing, because there is something more urgent to do.
   */
  verify(how: VerificationKind, signal?: AbortSignal): Promise<VerifyResult>;

  /**
   * Whether rules of service ports depend on what differs between these two. If so, the first `apply` with the later
   * one gets every service port. Missing: they never do.
   */
  rulesDependOn?(before: NodeNetwork, after: NodeNetwork): boolean;

  /**
   * The differences between the kernel's rules and the programmed ones: reads and compares everything, as a full verification does, and changes
   * nothing. It is not retried. Missing, or undefined, if the backend cannot determine them.
   * @param signal rejects with its reason soon after it is aborted
   */
  differences?(signal?: AbortSignal): Promise<readonly RuleDifference[] | undefined>;

  /** The changes of a `start` with these entries. Changes nothing, and is the only call but `close`. Missing as above. */
  plannedDifferences?(
    entries: Iterable<ForwardingEntry>,
    node: NodeNetwork,
    options?: StartOptions,
  ): Promise<readonly RuleDifference[] | undefined>;

  /**
   * Whether a start with `keepUnexplained` may have kept rules of the service port, which no entry had. Missing: it may have for
   * any.
   */
  mayKeep?(name: ServicePortName): boolean;

  /**
   * Why something stays that no service port has, nor is known to have had, and that may serve: what an earlier process left, and
   * the kernel rejects to remove. The next verification, also a quick one, tries again. Missing: nothing of the kind.
   */
  readonly failedDeletes?: readonly string[];

  /** Removes everything that this backend ever creates, and nothing else. Needs no start. */
  cleanup(): Promise<void>;

  /** Releases sockets and processes; rules stay. Idempotent. */
  close(): Promise<void>;
}

/** `quick`: compares only after a sign that another program wrote. `full`: always compares everything. */
export type VerificationKind = 'quick' | 'full';

/** How a backend starts. */
export interface StartOptions {
  /**
   * Not everything could be read: rules that no entry explains may belong to a Service that is not known yet. They
   * stay, and no change or verification removes them, until the backend is started again without this option. An entry
   * that explains them takes them over. A backend that cannot identify what an earlier process left, or whose rules
   * lead nowhere after a restart, may remove them anyway.
   */
  readonly keepUnexplained?: boolean;
  /** As of `apply`. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The result of a start or of a batch of changes. Sync observers get it unchanged (`SyncReport`): a field of it is all that a new
 * metric of a backend needs.
 */
export interface ApplyResult {
  /** Steps written; 0 when everything was right. */
  readonly written: number;
  readonly failed: readonly ServiceFailure[];
  /** Deviations of the rules from the request of a Service. */
  readonly notes?: readonly ServiceNote[];
  /**
   * UDP frontends of an earlier process that led to endpoints until `start` removed them, or `apply` those of a service port that failed
   * at the start: connection tracking still sends their clients to endpoints that no longer
   * serve. Missing if a backend cannot determine it, or nothing has changed.
   */
  readonly lost?: readonly FrontendAddress[];
}

/** The result where there was nothing to write. */
export const NOTHING_APPLIED: ApplyResult = { written: 0, failed: [] };

/** The result of two writes, one after the other. A field that only one of them has is kept. */
export function mergeResults(first: ApplyResult, second: ApplyResult): ApplyResult {
  const notes = [...(first.notes ?? []), ...(second.notes ?? [])];
  return {
    ...first,
    ...second,
    written: first.written + second.written,
    failed: [...first.failed, ...second.failed],
    ...(notes.length > 0 && { notes }),
  };
}

/** A service port that is programmed with a deviation. */
export interface ServiceNote {
  readonly key: ServicePortKey;
  readonly note: string;
}

/** A service port that could not be programmed, or removed: the kernel has its last good rules, or what it had of it. */
export interface ServiceFailure {
  readonly key: ServicePortKey;
  readonly reason: string;
  /** It was not tried alone: a batch with it was rejected, and the recovery attempt reached its limits. */
  readonly waits?: true;
  /**
   * The kernel rejected nothing: `mode`, this mode never serves such a service port; `node`, the proxy cannot on this node at
   * present, as where another program has a port. Missing: the kernel rejected it.
   */
  readonly limitedBy?: 'mode' | 'node';
}

/** The result of a verification. */
export interface VerifyResult extends ApplyResult {
  /** Whether the rules were read at all. */
  readonly compared: boolean;
  /** Whether a sign shows every write of another program, so that quick verifications miss none. Missing means no. */
  readonly watched?: boolean;
  /** Whether what was written may have removed what could not be removed before, so that no other program need have changed anything. */
  readonly retriedDeletes?: boolean;
}
