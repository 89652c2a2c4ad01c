import type { ChangeEntry, ListChange } from '../../../application/status/change-entry.js';
import { counted } from '../../../application/words/counted.js';
import { said } from '../../../application/words/said.js';

/** What came of a change: on terminals and on the page alike. */
export function resultWords(entry: ChangeEntry): string {
  return entry.what === 'service-port' ? entry.result : FAMILY_RESULTS[entry.what];
}

const FAMILY_RESULTS = {
  'everything-programmed': 'everything programmed',
  'sync-failed': 'sync failed',
  repaired: 'repaired after another program',
} as const;

/** Why it failed or is degraded, and how the lists of a service port changed; may be empty. */
export function changeWords(entry: ChangeEntry): string {
  const { what, reason } = entry;
  if (what !== 'service-port') return reason ?? '';
  const { endpoints, aside, frontends, result } = entry;
  const parts = said(
    reason,
    listWords('endpoints', endpoints),
    aside && listWords('silent endpoints aside', aside),
    listWords('frontends', frontends),
  );
  if (parts.length > 0) return parts.join('; ');
  return result === 'programmed' ? `${counted(endpoints.now, 'endpoint')} as before` : '';
}

function listWords(name: string, { now, added, removed, turned, some }: ListChange): string {
  const more = added + removed + turned - some.length;
  if (some.length === 0) return '';
  const numbers = added + removed > 0 ? ` ${now - added + removed} → ${now}` : '';
  return `${name}${numbers}: ${some.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
