import type { ChangeEntry, ServicePortChange } from '../asking/answers.js';
import type { MarkKind } from './mark-kind.js';
import { counted } from './time.js';

/** How a change ended, as a word and a shape. */
export function outcomeOf(change: ChangeEntry): { readonly mark: MarkKind; readonly word: string } {
  const { what } = change;
  const result = what === 'service-port' ? change.result : what;
  switch (result) {
    case 'programmed':
      return { mark: 'good', word: 'programmed' };
    case 'everything-programmed':
      return { mark: 'good', word: 'all programmed' };
    case 'removed':
      return { mark: 'off', word: 'removed' };
    case 'repaired':
      return { mark: 'waiting', word: 'repaired' };
    case 'degraded':
      return { mark: 'bad', word: 'degraded' };
    case 'failed':
    case 'sync-failed':
      return { mark: 'bad', word: 'failed' };
  }
}

/** What a change changed, or why it failed, in one line. */
export function changeWords(change: ChangeEntry): string {
  if (change.reason !== undefined) return change.reason;
  const steps = counted(change.steps, 'step');
  if (change.what === 'repaired') return `rules that another program had changed, ${steps}`;
  if (change.what !== 'service-port') return steps;
  const lists = [...listWords('endpoint', change.endpoints), ...listWords('frontend', change.frontends)];
  return lists.join('; ') || steps;
}

function listWords(
  noun: string,
  { now, added, removed, turned, some }: ServicePortChange['endpoints'],
): readonly string[] {
  const count = added + removed + turned;
  if (count === 0) return [];
  const words = [
    ...(added > 0 ? [`+${added}`] : []),
    ...(removed > 0 ? [`−${removed}`] : []),
    ...(turned > 0 ? [`${turned} turned`] : []),
  ].join(' ');
  const more = count > some.length ? ', …' : '';
  return [`${words} ${noun}${count === 1 ? '' : 's'}, now ${now} (${some.join(', ')}${more})`];
}
