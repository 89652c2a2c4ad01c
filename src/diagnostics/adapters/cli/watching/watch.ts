import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { OutputFormat } from '../command-line/options.js';
import { formatted, jsonLine } from '../output/formatted.js';
import { print } from '../output/print.js';

/** Milliseconds from an answer to the next question. */
const PAUSE = 1_000;

/** For questions that cost the proxy much: it spends at most a tenth of its time on one watcher. */
export function restAfterCostly(took: number): number {
  return Math.max(PAUSE, 9 * took);
}

/** What is watched: the items of one answer. */
export interface Watched<Item extends object> {
  readonly items: readonly Item[];
  /** Which item of another answer is the same. */
  key(item: Item): string;
  /** What of it is a change to those who watch; missing: everything. */
  essence?(item: Item): unknown;
  /** What is told of an item that the former answer had and this one has not; missing: nothing. */
  gone?(item: Item): Item;
  /** The lines above all items, and those of each. */
  text(items: readonly Item[], isWide: boolean): WatchedText;
  /** For `-o name`; missing: none is printed. */
  name?(item: Item): string;
}

interface WatchedText {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A table with a line for each item. */
export function tableText(lines: readonly string[]): WatchedText {
  return { head: lines.slice(0, 1), rows: lines.slice(1).map((row) => [row]) };
}

/**
 * Prints all items, and then, below, those that are different in each further answer, as kubectl does, until the signal is aborted.
 * In JSON and YAML each is a document.
 * @param ask resolves with undefined if nothing can have changed since the former answer; its errors end the watch
 * @param rest milliseconds to the next question after an answer that took so many
 */
export async function watch<Item extends object>(
  ask: () => Promise<Watched<Item> | undefined>,
  output: OutputFormat,
  signal: AbortSignal,
  rest: (took: number) => number = () => PAUSE,
): Promise<void> {
  const ended = new Promise<undefined>((resolve) =>
    signal.addEventListener('abort', () => resolve(undefined), { once: true }),
  );
  let former: ReadonlyMap<string, Item> | undefined;
  let isFirst = true;
  while (!signal.aborted) {
    const askedAt = performance.now();
    // An answer may take long.
    const watched = await Promise.race([ask(), ended]);
    if (watched) {
      const { items } = watched;
      const now = new Map(items.map((item) => [watched.key(item), item]));
      const told = former ? changes(watched, former, now) : items;
      if (told.length > 0) await print(textOf(watched, told, output, isFirst));
      isFirst &&= told.length === 0;
      former = now;
    }
    await pause(rest(performance.now() - askedAt), undefined, { signal }).catch(() => undefined);
  }
}

function changes<Item extends object>(
  { items, key, essence = (item) => item, gone }: Watched<Item>,
  former: ReadonlyMap<string, Item>,
  now: ReadonlyMap<string, Item>,
): readonly Item[] {
  const changed = items.filter((item) => {
    const before = former.get(key(item));
    return before === undefined || !isDeepStrictEqual(essence(before), essence(item));
  });
  if (!gone) return changed;
  return [...changed, ...[...former].flatMap(([place, item]) => (now.has(place) ? [] : gone(item)))];
}

function textOf<Item extends object>(
  { items, text, name }: Watched<Item>,
  told: readonly Item[],
  output: OutputFormat,
  isFirst: boolean,
): string {
  switch (output) {
    case 'json':
      return told.map(jsonLine).join('');
    case 'yaml':
      return told.map((item) => `---\n${formatted('yaml', item, () => [])}`).join('');
    case 'name':
      return formatted(
        'name',
        told,
        () => [],
        (all) => all.flatMap((item) => name?.(item) ?? []),
      );
    case 'text':
    case 'wide': {
      // Columns are as wide as for all items.
      const all = [...items, ...told.filter((item) => !items.includes(item))];
      const isTold = new Set(told);
      const indexes = new Set(all.flatMap((item, index) => (isTold.has(item) ? index : [])));
      return formatted(output, all, (shown, isWide) => {
        const { head, rows } = text(shown, isWide);
        return [...(isFirst ? head : []), ...rows.filter((_, index) => indexes.has(index)).flat()];
      });
    }
  }
}
