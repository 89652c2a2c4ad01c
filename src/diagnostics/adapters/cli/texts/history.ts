import { inToneOf } from '../output/tones.js';
import type { ChangeEntry } from '../../../../application/status/change-entry.js';
import { changeWords, resultWords } from '../../../application/words/change-words.js';
import { serviceOf } from '../../../../domain/model/service-port-name.js';
import { columns } from '../output/columns.js';
import { objectName } from '../output/object-name.js';

const HEADERS = ['TIME', 'SERVICE PORT', 'FAMILY', 'RESULT', 'TOOK', 'STEPS', 'CHANGES'];

/**
 * A line for each change: when, which service port, what came of it, how long it took, and what changed.
 * @param isWide with the time of the event, and that of its cause
 */
export function historyLines(
  changes: readonly (ChangeEntry & { readonly node?: string })[],
  isWide: boolean,
): readonly string[] {
  if (changes.length === 0) return ['no change is remembered'];
  const ofNode = (text: string): readonly string[] => (changes[0]!.node === undefined ? [] : [text]);
  return columns(
    [...ofNode('NODE'), ...HEADERS],
    changes.map((change) => [...ofNode(change.node ?? ''), ...cellsOf(change, isWide)]),
  );
}

function cellsOf(entry: ChangeEntry, isWide: boolean): readonly string[] {
  const { what, at, family, steps, took } = entry;
  return [
    at,
    what === 'service-port' ? entry.servicePort : '-',
    family,
    inToneOf(what === 'service-port' ? entry.result : what, resultWords(entry)),
    took === undefined ? '-' : `${took} ms`,
    String(steps),
    `${changeWords(entry)}${isWide && what === 'service-port' ? timesText(entry) : ''}`,
  ];
}

function timesText({ event, trigger }: ChangeEntry & { readonly what: 'service-port' }): string {
  return `; event ${event}${trigger === undefined ? '' : `, caused ${trigger}`}`;
}

/** The Services that changed, each once, as kubectl writes them. */
export function changedServices(changes: readonly ChangeEntry[]): readonly string[] {
  const keys = changes.flatMap((change) =>
    change.what === 'service-port' ? serviceOf(change.servicePort) : [],
  );
  return [...new Set(keys)].map((key) => objectName('service', key.split('/')[1]!));
}
