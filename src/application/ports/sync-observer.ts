import type { ServiceKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/**
 * Is told what the sync loops do: health and metrics listen here. Calls are synchronous, cheap and never throw.
 */
export interface SyncObserver {
  /** The family's loop has begun; nothing is programmed yet. */
  loopStarted(family: IpFamily): void;
  /** Something waits to be programmed. Called for each request, also while one waits already. */
  queued(family: IpFamily): void;
  /** A sync begins and has taken up everything that waited. */
  taken(family: IpFamily): void;
  finished(family: IpFamily, report: SyncReport): void;
  /** A verification repaired so many steps. */
  repaired(family: IpFamily, steps: number): void;
  /** An event of a Service; `changed` when it changes anything that the proxy reads. */
  serviceEvent(service: ServiceKey, changed: boolean): void;
  endpointSliceEvent(changed: boolean): void;
}

/** What one sync did. */
export interface SyncReport {
  /** Everything was programmed, but for services that are set aside. */
  readonly ok: boolean;
  /** Why not, when not ok. */
  readonly error?: string;
  /** The first sync, or the one after a failure: everything was compared. */
  readonly full: boolean;
  readonly seconds: number;
  /** Steps written into the kernel. */
  readonly written: number;
  /** Service ports that could not be programmed. */
  readonly failed: number;
  /** Seconds from the change in the cluster to now, for each slice change that this sync carried. */
  readonly programmingLatencies: readonly number[];
  /** Service ports of a Local policy that have endpoints somewhere, but none here. */
  readonly noLocalEndpoints: { readonly internal: number; readonly external: number };
}
