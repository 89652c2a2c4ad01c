import type { ChangeEntry } from '../asking/answers.js';
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
  const lists = [
    listWords('endpoint', change.endpoints),
    listWords('frontend', change.frontends),
    ...(change.endpoints.some.length + change.frontends.some.length > 0
      ? [`(${[...change.endpoints.some, ...change.frontends.some].join(', ')})`]
      : []),
  ];
  return lists.filter((words) => words !== '').join(' ') || steps;
}

function listWords(
  noun: string,
  { now, added, removed }: { readonly now: number; readonly added: number; readonly removed: number },
): string {
  if (added + removed === 0) return '';
  const parts = [...(added > 0 ? [`+${added}`] : []), ...(removed > 0 ? [`−${removed}`] : [])];
  return `${parts.join(' ')} ${noun}${added + removed === 1 ? '' : 's'}, now ${now}`;
}
