import { counted } from '../../../application/words/counted.js';
import type { ChangeEntry, ListChange, ServicePortChange } from '../../../application/status/change-entry.js';

/**
 * A change as the cells of a line: when, which service port, what came of it, how long it took, and what changed. `isWide`:
 * with the time of the event, and that of its cause.
 */
export function changeEntryCells(entry: ChangeEntry, isWide: boolean): readonly string[] {
  const { at, family, steps } = entry;
  const time = new Date(at).toISOString();
  if (entry.what === 'service-port') {
    const { servicePort, result, took, event, trigger } = entry;
    const times = isWide
      ? `; event ${new Date(event).toISOString()}${trigger === undefined ? '' : `, caused ${new Date(trigger).toISOString()}`}`
      : '';
    return [time, servicePort, family, result, `${took} ms`, String(steps), `${changesText(entry)}${times}`];
  }
  const { what, took, reason = '' } = entry;
  return [
    time,
    '-',
    family,
    FAMILY_RESULTS[what],
    took === undefined ? '-' : `${took} ms`,
    String(steps),
    reason,
  ];
}

/** The headers of these cells. */
export const CHANGE_ENTRY_HEADERS = ['TIME', 'SERVICE PORT', 'FAMILY', 'RESULT', 'TOOK', 'STEPS', 'CHANGES'];

const FAMILY_RESULTS = {
  'everything-programmed': 'everything programmed',
  'sync-failed': 'sync failed',
  repaired: 'repaired after another program',
} as const;

function changesText({ reason, endpoints, frontends, result }: ServicePortChange): string {
  const parts = [
    ...(reason === undefined ? [] : [reason]),
    ...listText('endpoints', endpoints),
    ...listText('frontends', frontends),
  ];
  if (parts.length > 0) return parts.join('; ');
  return result === 'programmed' ? `${counted(endpoints.now, 'endpoint')} as before` : '';
}

function listText(name: string, { now, added, removed, turned, some }: ListChange): readonly string[] {
  const more = added + removed + turned - some.length;
  if (some.length === 0) return [];
  const numbers = added + removed > 0 ? ` ${now - added + removed} → ${now}` : '';
  return [`${name}${numbers}: ${some.join(', ')}${more > 0 ? ` and ${more} more` : ''}`];
}
