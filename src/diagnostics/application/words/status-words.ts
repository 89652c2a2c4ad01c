import type { FamilyStatus, WatchStatus } from '../status/proxy-status.js';
import { counted } from '../../../application/words/counted.js';
import { said } from '../../../application/words/said.js';

type Counting = (count: number, noun: string) => string;

/**
 * How a family is: on terminals and on the page alike.
 * @param time how a time is written
 * @param count how things are counted
 */
export function familyWords(
  { inSync, programmed, failed, degraded, sync: { lastSuccess, drift } }: FamilyStatus,
  time: (at: string) => string = String,
  count: Counting = counted,
): string {
  return said(
    inSync ? 'in sync' : 'not in sync',
    `${count(programmed, 'service port')} programmed`,
    failed.length > 0 && `${failed.length} failing`,
    degraded.length > 0 && `${degraded.length} degraded`,
    lastSuccess
      ? `last sync ${time(lastSuccess.at)} in ${Math.round(lastSuccess.seconds * 1000)} ms`
      : 'no sync yet',
    drift.last !== undefined &&
      `${count(drift.found, 'repair')} after another program, the last ${time(drift.last)}`,
  ).join(', ');
}

/** How a watch is. */
export function watchWords(
  { state, connected, objects, silence, failure }: WatchStatus,
  count: Counting = counted,
): string {
  return said(
    connected ? 'connected' : state.replace('-', ' '),
    count(objects, 'object'),
    silence !== undefined && `last news ${Math.round(silence)} s ago`,
    failure,
  ).join(', ');
}
