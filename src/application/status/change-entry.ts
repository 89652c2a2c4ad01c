import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/** What one sync or repair did, of which a proxy remembers the last thousand. Times are milliseconds since the epoch. */
export type ChangeEntry = ServicePortChange | FamilyChange;

interface Change {
  readonly family: IpFamily;
  /** When the outcome was known. */
  readonly at: number;
  /** Steps written into the kernel: by the whole sync, which may have changed other service ports too. */
  readonly steps: number;
}

/** The outcome for one service port that changed. */
export interface ServicePortChange extends Change {
  readonly what: 'service-port';
  readonly servicePort: ServicePortKey;
  readonly result: 'programmed' | 'degraded' | 'failed' | 'removed';
  /** Why, if it failed or is degraded. */
  readonly reason?: string;
  /** When the first event arrived that its sync programmed. */
  readonly event: number;
  /** When the cause of a changed EndpointSlice happened, if the cluster says so. */
  readonly trigger?: number;
  /** Milliseconds from that event to the outcome. */
  readonly took: number;
  /** Endpoints that traffic of this node may go to. */
  readonly endpoints: ListChange;
  readonly frontends: ListChange;
}

/** How a list changed. */
export interface ListChange {
  readonly now: number;
  readonly added: number;
  readonly removed: number;
  /** Members that stay, with another outcome for clients; only of frontends. */
  readonly turned: number;
  /** The first of these: `+10.244.1.5:8080`, `-10.244.1.6:8080`, `10.96.0.80:80 reject → forward`. */
  readonly some: readonly string[];
}

/** What concerned a whole family: a first sync or one after a failure, a failure as a whole, a repair. */
export interface FamilyChange extends Change {
  readonly what: 'everything-programmed' | 'sync-failed' | 'repaired';
  /** Why, if it failed. */
  readonly reason?: string;
  /** Milliseconds, if a sync was made. */
  readonly took?: number;
}

/** The answer to a question for the history. */
export interface History {
  /** The oldest first. */
  readonly changes: readonly ChangeEntry[];
  /** All changes since the start, also those that are forgotten by now. */
  readonly total: number;
}
