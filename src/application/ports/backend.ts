import type { FrontendAddress } from '../../domain/conntrack/frontend-map.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { FrontendConflict } from '../../domain/reconcile/claims.js';

/**
 * Programs one family's forwarding into something that forwards: the kernel, a table in memory, an embedder's own.
 *
 * The caller makes one call at a time and waits for it. Every call is idempotent: the same input again writes nothing.
 * A service port that cannot be programmed is reported in the result, keeps what it had, and never stops the others;
 * the caller retries it. A call rejects only when nothing at all can be programmed; it may then be made again.
 */
export interface Backend {
  readonly mode: string;
  readonly family: IpFamily;

  /** Brings the kernel to these entries, adopting what is right already. First call; again after a rejection. */
  start(entries: Iterable<ForwardingEntry>, node: NodeNetwork, options?: StartOptions): Promise<ApplyResult>;

  /** Applies what changed. Costs what changed; reads nothing back. */
  apply(changes: readonly ForwardingChange[], node: NodeNetwork): Promise<ApplyResult>;

  /**
   * Compares the kernel with what was programmed and repairs what differs. Rejects with the signal's reason when it is
   * aborted while comparing, because there is something more urgent to do.
   */
  verify(how: VerificationKind, signal?: AbortSignal): Promise<VerifyResult>;

  /**
   * Whether rules of service ports depend on what differs between these two. If so, the first `apply` with the later one is
   * given every service port. Missing: they never do.
   */
  rulesDependOn?(before: NodeNetwork, after: NodeNetwork): boolean;

  /** Removes everything that this backend ever makes, and nothing else. Needs no start. */
  cleanup(): Promise<void>;

  /** Releases sockets and processes; rules stay. Idempotent. */
  close(): Promise<void>;
}

/** `quick`: compares only after a sign that another program wrote. `full`: compares everything, whatever the signs say. */
export type VerificationKind = 'quick' | 'full';

/** How a backend starts. */
export interface StartOptions {
  /**
   * Not everything could be read: rules that no entry explains may belong to a Service that is only unknown. They stay, and
   * no change or verification removes them, until the backend is started again without this. An entry that has come for
   * them takes them over. A backend that cannot tell what a former process left, or whose rules lead nowhere after a restart,
   * may remove them all the same.
   */
  readonly keepUnexplained?: boolean;
}

/** What a start, or a batch of changes, came to. */
export interface ApplyResult {
  /** Steps written; 0 when everything was right. */
  readonly written: number;
  readonly failed: readonly ServiceFailure[];
  /** Frontends that two service ports claim. */
  readonly conflicts: readonly FrontendConflict[];
  /** Where what is programmed deviates from what a Service asks for. */
  readonly notes?: readonly ServiceNote[];
  /**
   * UDP frontends of a former process that led to endpoints until `start` removed them: what their clients are still
   * tracked to is gone. Missing where a backend cannot tell.
   */
  readonly lost?: readonly FrontendAddress[];
}

/** A service port that is programmed with a deviation. */
export interface ServiceNote {
  readonly key: ServicePortKey;
  readonly note: string;
}

/** A service port that could not be programmed. */
export interface ServiceFailure {
  readonly key: ServicePortKey;
  readonly reason: string;
}

/** What a verification found, and repaired. */
export interface VerifyResult extends ApplyResult {
  /** Whether the rules were read at all. */
  readonly compared: boolean;
  /** Whether a sign shows every write of another program, so that quick verifications miss none. Missing means no. */
  readonly watched?: boolean;
}
