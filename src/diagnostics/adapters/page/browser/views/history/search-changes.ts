import { changeWords, resultWords, portWords } from '../../../../../application/words.js';
import type { ChangeEntry } from '../../../../../../application/status/change-entry.js';
import { readServicePort } from '../../parts/service-port.js';

/** The changes of one answer, made ready to be searched at each letter that is typed; the newest first. */
export class SearchChanges {
  private readonly changes: readonly ChangeEntry[];
  private readonly texts: readonly string[];

  /** @param changes the oldest first */
  constructor(changes: readonly ChangeEntry[]) {
    this.changes = [...changes].reverse();
    this.texts = this.changes.map((change) =>
      [subjectText(change), resultWords(change), changeWords(change)].join(' ').toLowerCase(),
    );
  }

  /** Those in which every word occurs: in the service port, the family, the result, and what is told of it. */
  matching(search: string, failing: boolean): readonly ChangeEntry[] {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    return this.changes.filter(
      (change, place) =>
        (!failing || isFailing(change)) && words.every((word) => this.texts[place]!.includes(word)),
    );
  }
}

/** What was changed: a service port, or all of a family. */
export function subjectText(change: ChangeEntry): string {
  if (change.what !== 'service-port') return `all of ${change.family}`;
  const port = readServicePort(change.servicePort);
  const name = port ? `${port.namespace}/${port.name} ${portWords(port)}` : change.servicePort;
  return `${name} ${change.family}`;
}

function isFailing(change: ChangeEntry): boolean {
  if (change.what !== 'service-port') return change.what !== 'everything-programmed';
  return change.result === 'failed' || change.result === 'degraded';
}
