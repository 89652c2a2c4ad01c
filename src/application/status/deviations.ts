import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { ApplyResult } from '../ports/backend.js';
import { said } from '../words/said.js';
import { heldFrontendText } from '../words/held-words.js';
import { FrontendConflicts } from './frontend-conflicts.js';
import type { DegradedStatus } from './port-status.js';

/** How what is programmed deviates from what was asked for: frontends that others hold, notes of the backend, and what rules lack. */
export class Deviations {
  private readonly conflicts = new FrontendConflicts();
  /** The backend's notes on single service ports. */
  private readonly notes = new Map<ServicePortKey, string>();
  /** What service ports lack besides rules. */
  private readonly lacks = new Map<ServicePortKey, string>();

  /** Whether everything is programmed as asked for. */
  get isEmpty(): boolean {
    return this.conflicts.isEmpty && this.notes.size === 0 && this.lacks.size === 0;
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

  /** Something that the service port needs besides its rules is not there; undefined: it is. */
  lacking(key: ServicePortKey, problem: string | undefined): void {
    if (problem === undefined) this.lacks.delete(key);
    else this.lacks.set(key, problem);
  }

  /** Undefined if the service port is programmed as asked for. */
  of(key: ServicePortKey): Pick<DegradedStatus, 'reason' | 'held'> | undefined {
    const held = this.conflicts.lostBy(key);
    const texts = [...held.map(heldFrontendText), ...said(this.notes.get(key), this.lacks.get(key))];
    if (texts.length === 0) return undefined;
    return { reason: texts.join('; '), ...(held.length > 0 && { held }) };
  }
}
