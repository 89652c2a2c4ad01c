import * as words from '../../../../application/words.js';
import type { ChangeEntry } from '../../../../../application/status/change-entry.js';
import { markOf, type MarkKind } from './mark-kind.js';
import { counted } from './time.js';

/** How a change ended, as a word and a shape. */
export function outcomeOf(change: ChangeEntry): { readonly mark: MarkKind; readonly word: string } {
  const result = change.what === 'service-port' ? change.result : change.what;
  return { mark: markOf(result), word: words.resultWords(change) };
}

/** What a change changed, or why it failed, in one line. */
export function changeWords(change: ChangeEntry): string {
  return words.changeWords(change) || counted(change.steps, 'step');
}
