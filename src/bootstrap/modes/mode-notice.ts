import { LEVELS } from '../configuration/levels.js';
import type { Configuration } from '../configuration/schema/schema.js';

/** What people should know of the mode that they run: for the log at the start, and an event about the Node. */
export interface ModeNotice {
  readonly severity: 'warn' | 'error';
  /** Of the event. */
  readonly reason: string;
  readonly note: string;
}

/**
 * Undefined when there is nothing to tell (docs/spec/changes-1.37.md §2).
 * @param asked the configuration before the mode was chosen
 */
export function modeNotice(asked: Pick<Configuration, 'mode' | 'kubernetesVersion'>): ModeNotice | undefined {
  const { ipvsEnds, modeUnset } = LEVELS[asked.kubernetesVersion];
  if (asked.mode === 'ipvs') return { severity: 'error', reason: 'IPVSDeprecation', note: ipvsEnds };
  return asked.mode === '' && modeUnset !== undefined
    ? { severity: 'warn', reason: 'ProxyModeUnset', note: modeUnset }
    : undefined;
}
