import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { ApplyResult } from '../ports/backend.js';
import { FrontendConflicts, lostFrontendText } from './frontend-conflicts.js';
import type { DegradedStatus } from './port-status.js';

/** How what is programmed deviates from what was asked for: frontends that others hold, and notes of the backend. */
export class Deviations {
  private readonly conflicts = new FrontendConflicts();
  /** The backend's notes on single service ports. */
  private readonly notes = new Map<ServicePortKey, string>();

  /** Whether everything is programmed as asked for. */
  get isEmpty(): boolean {
    return this.conflicts.isEmpty && this.notes.size === 0;
  }

  /** Replaces what is known of the service ports. Returns those of which something else may be said now, others included. */
  update(
    keys: readonly ServicePortKey[],
    { conflicts, notes = [] }: Pick<ApplyResult, 'conflicts' | 'notes'>,
  ): ReadonlySet<ServicePortKey> {
    for (const key of keys) this.notes.delete(key);
    for (const { key, note } of notes) this.notes.set(key, note);
    return this.conflicts.update(keys, conflicts);
  }

  /** Undefined if the service port is programmed as asked for. */
  of(key: ServicePortKey): Pick<DegradedStatus, 'reason' | 'lost'> | undefined {
    const lost = this.conflicts.lostBy(key);
    const note = this.notes.get(key);
    if (lost.length === 0) return note === undefined ? undefined : { reason: note };
    const reason = [...lost.map(lostFrontendText), ...(note === undefined ? [] : [note])].join('; ');
    return { reason, lost };
  }
}
