import type { ServiceKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/**
 * Called with what the sync loops do: health and metrics listen here. Calls are synchronous, cheap and never throw.
 */
export interface SyncObserver {
  /** The family's loop has started; nothing is programmed yet. */
  loopStarted(family: IpFamily): void;
  /** Something is waiting to be programmed. Called for each request, also while another is already waiting. */
  queued(family: IpFamily): void;
  /** A sync begins and has dequeued everything that was waiting. */
  dequeued(family: IpFamily): void;
  /** A sync ran, successfully or not. */
  finished(family: IpFamily, report: SyncReport): void;
  /** A verification ended, with the reason if it failed as a whole. */
  verified(family: IpFamily, problem?: string): void;
  /** A verification repaired rules with this many steps. */
  repaired(family: IpFamily, steps: number): void;
  /** An event of a Service; `changed` when it changes anything that the proxy reads. */
  serviceEvent(service: ServiceKey, changed: boolean): void;
  /** An event of a slice of a served family; `changed` as above. */
  endpointSliceEvent(changed: boolean): void;
}

/** What one sync did. */
export interface SyncReport {
  /** Everything was programmed, except for service ports that failed alone. */
  readonly ok: boolean;
  /** The reason, if not `ok`. */
  readonly error?: string;
  /** The first sync, or the one after a failure: everything was compared. */
  readonly full: boolean;
  readonly seconds: number;
  /** Steps written into the kernel. */
  readonly written: number;
  /** Service ports that could not be programmed. */
  readonly failed: number;
  /** Seconds from the change of a pod (the endpoints' trigger time annotation) to now, for each slice change in this sync. */
  readonly programmingLatencies: readonly number[];
  /** Service ports with a Local policy that have endpoints elsewhere, but none here. */
  readonly noLocalEndpoints: { readonly internal: number; readonly external: number };
}
