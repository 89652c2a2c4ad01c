import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { ServiceKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { ApplyResult } from './backend.js';

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

/** The result of programming a portion of the changes: the backend's, and the changes that it is about. */
export interface ProgrammedChanges extends ApplyResult {
  /** The first sync, or the one after a failure: everything was compared. */
  readonly full: boolean;
  /** The changes that were to be programmed. */
  readonly changed: readonly ForwardingChange[];
}

/** The result of one sync. After a failure as a whole, nothing is written and nothing has failed alone. */
export interface SyncReport extends ProgrammedChanges {
  /** Everything was programmed, except for service ports that failed alone. */
  readonly ok: boolean;
  /** The reason, if not `ok`. */
  readonly error?: string;
  /** Every Service was due, as when the zone of the node changes. */
  readonly everyService: boolean;
  readonly seconds: number;
  /** Seconds from the first event that the sync dequeued to its end. */
  readonly sinceEventSeconds: number;
  /** For each Service of which a slice changed: when that was caused, in milliseconds since the epoch. */
  readonly triggers: ReadonlyMap<ServiceKey, readonly number[]>;
  /** Seconds from the change of a pod (the endpoints' trigger time annotation) to now, for each slice change in this sync. */
  readonly programmingLatencies: readonly number[];
  /** Service ports with a Local policy that have endpoints elsewhere, but none here. */
  readonly noLocalEndpoints: { readonly internal: number; readonly external: number };
}

/** Several observers as one, such as health, metrics and history. Each call goes to all that have it, in turn. */
export function combineObservers(observers: readonly Partial<SyncObserver>[]): SyncObserver {
  return combine(observers, [
    ...(['loopStarted', 'queued', 'dequeued', 'finished', 'verified', 'repaired'] as const),
    ...(['serviceEvent', 'endpointSliceEvent'] as const),
  ]);
}

/** An object whose methods of these names call those of all receivers that have them, in turn. */
export function combine<Methods extends object>(
  receivers: readonly Partial<Methods>[],
  names: readonly (keyof Methods)[],
): Methods {
  type Method = ((...values: readonly unknown[]) => void) | undefined;
  const methods = names.map((name) => [
    name,
    (...values: readonly unknown[]): void => {
      for (const receiver of receivers) (receiver[name] as Method)?.call(receiver, ...values);
    },
  ]);
  return Object.fromEntries(methods) as Methods;
}
