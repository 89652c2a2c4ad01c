/** Watches for `-w`: repeats a query and prints what has changed. */

import { ExitCode, exitCodeOf } from '../../../adapters/cli/exit-code.js';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { OutputFormat, OutputOptions, WatchOptions } from './options.js';
import type { AboutUnknown } from '../../application/status/service-row.js';
import { reportUnknown } from './find-services.js';
import { formatted, jsonLine, print } from './output.js';
import { syncAnswer } from '../../application/status/proxy-status.js';
import type { RunningProxy } from './running-proxy.js';

/** How a command shows an answer. */
export interface Shown<Answer, Item extends object> {
  /** For people. */
  lines(answer: Answer, isWide: boolean): readonly string[];
  /** For `-o name`; missing: it is not among the formats of the command. */
  names?(answer: Answer): readonly string[];
  /** If all names are known. */
  exitCode(answer: Answer): ExitCode;
  /** The items of the answer, for `-w`. */
  watched(answer: Answer): Watched<Item>;
  /** Milliseconds to the next query, by the milliseconds that the last one took. */
  readonly rest?: (took: number) => number;
}

/**
 * Prints the answer of a query, or with `-w` what has changed in each further answer until the user ends it. Names that no Service
 * has are reported once. Returns the exit code of the last answer, 1 if a name is unknown.
 * @param query resolves with undefined if nothing can have changed since the previous answer
 */
export async function show<Answer extends AboutUnknown, Item extends object>(
  { output, watch: isWatched = false }: OutputOptions & WatchOptions,
  query: () => Promise<Answer | undefined>,
  { lines, names, exitCode, watched, rest }: Shown<Answer, Item>,
): Promise<number> {
  if (!isWatched) {
    const answer = (await query())!;
    await print(formatted(output, answer, lines, names));
    const code = exitCode(answer);
    return reportUnknown(answer.unknownNames) ? Math.max(code, ExitCode.problem) : code;
  }
  let last: Answer | undefined;
  let hasUnknown = false;
  const queryItems = async (): Promise<Watched<Item> | undefined> => {
    const answer = await query();
    if (!answer) return undefined;
    if (!last) hasUnknown = reportUnknown(answer.unknownNames);
    last = answer;
    return watched(answer);
  };
  await untilUserEnds(({ signal }) => watch(queryItems, output, signal, rest));
  return Math.max(exitCodeOf(hasUnknown), last ? exitCode(last) : ExitCode.ok);
}

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
  /** What is printed for an item that only the previous answer has; missing: nothing. */
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
 * @param ask resolves with undefined if nothing can have changed since the previous answer; its errors end the watch
 * @param rest milliseconds to the next query, by the milliseconds that the last one took
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
    const queriedAt = performance.now();
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
    await pause(rest(performance.now() - queriedAt), undefined, { signal }).catch(() => undefined);
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

/** Queries only when the state of the proxy is another one than before, which costs nearly nothing. */
export function whenChanged<Answer>(
  proxy: RunningProxy,
  query: () => Promise<Answer>,
): () => Promise<Answer | undefined> {
  let previous: string | undefined;
  return async () => {
    const { idle, appliedEvents, totalChanges } = await proxy.query('/debug/sync', syncAnswer);
    const state = `${idle} ${appliedEvents} ${totalChanges}`;
    if (state === previous) return undefined;
    previous = state;
    return query();
  };
}

/**
 * Runs something that continues until its signal is aborted: when the user ends the program (SIGINT, SIGTERM), or the reader of its output
 * has left, as `head` does.
 */
export async function untilUserEnds<Result>(
  run: (ending: AbortController) => Promise<Result>,
): Promise<Result> {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  process.once('SIGINT', end).once('SIGTERM', end);
  process.stdout.once('error', end);
  try {
    return await run(ending);
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end);
    process.stdout.off('error', end);
  }
}
