import type { ServiceKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { Logger } from '../ports/logger.js';
import type { ProgramResult } from '../use-cases/sync.js';

/** The outcome of a sync that dequeued changes and succeeded. */
export interface ProgrammedChanges extends Omit<ProgramResult, 'full'> {
  readonly family: IpFamily;
  /** Every Service was due, as when the zone of the node changes. */
  readonly everyService: boolean;
  /** Duration of the sync in milliseconds. */
  readonly ms: number;
  /** Milliseconds from the first event that it dequeued to now, when the rules are in place. */
  readonly sinceEvent: number;
  /** For each Service of which a slice changed: when that was caused, in milliseconds since the epoch. */
  readonly triggers: ReadonlyMap<ServiceKey, readonly number[]>;
}

/** Logs the outcome for each service port that changed, at debug level. A sync that changed nothing is silent. */
export function logChanges(logger: Logger, changes: ProgrammedChanges): void {
  const { family, changed, failed, written, ms, sinceEvent } = changes;
  if (changed.length === 0 && written === 0) return;
  const failures = new Set(failed);
  for (const { key, entry } of changed) {
    if (failures.has(key)) continue;
    if (entry) {
      const endpoints = entry.endpoints.reachable.length;
      logger.debug({ family, service: key, sinceEvent, endpoints }, 'service port programmed');
    } else logger.debug({ family, service: key, sinceEvent }, 'service port removed');
  }
  logger.debug(
    { family, servicePorts: changed.length, failed: failed.length, written, ms, sinceEvent },
    'changes programmed',
  );
}
