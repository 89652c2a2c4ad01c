import { styleText } from 'node:util';
import { printableLines } from '../../../../adapters/process/quote.js';
import type { ColorChoice } from '../../../../adapters/cli/subcommand.js';

/** Characters for private use, which begin a tone and end it: no text of others has them in it, since `printable` escapes them. */
const COLORS = { '\ue000': 'green', '\ue001': 'yellow', '\ue002': 'red' } as const;
const [GOOD, DOUBTFUL, BAD] = Object.keys(COLORS) as readonly (keyof typeof COLORS)[];
const END = '\ue003';
const MARKS = /([\ue000-\ue003])/;
const ALL_MARKS = /[\ue000-\ue003]/g;

/** States and verdicts that are more than a fact, as answers have them. */
const TONES: Readonly<Record<string, string | undefined>> = {
  ...toned(GOOD!, 'good', 'programmed', 'forward', 'valid', '+'),
  ...toned(
    DOUBTFUL!,
    'degraded',
    'pending',
    'mixed',
    'no endpoint',
    'aside',
    'repaired',
    'unknown',
    'warning',
  ),
  ...toned(
    BAD!,
    'not-serving',
    'not-served',
    'failed',
    'sync-failed',
    'refused',
    'dropped',
    'reject',
    'drop',
  ),
  ...toned(BAD!, 'held', 'silent', 'different', 'error', '-'),
};

function toned(mark: string, ...words: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(words.map((word) => [word, mark]));
}

/** A text in the tone of a state or verdict: as it is, if that has none. */
export function inToneOf(state: string, text = state): string {
  const mark = Object.hasOwn(TONES, state) ? TONES[state] : undefined;
  return mark === undefined || text === '' ? text : `${mark}${text}${END}`;
}

function withoutTones(text: string): string {
  // Of most texts that is clear at once.
  return MARKS.test(text) ? text.replace(ALL_MARKS, '') : text;
}

/** How many characters of it are seen. */
export function visibleLength(text: string): number {
  return withoutTones(text).length;
}

/** As much of a line as so many columns have room for. */
export function cutLine(line: string, columns: number): string {
  let left = columns;
  return line
    .split(MARKS)
    .map((piece) => {
      if (MARKS.test(piece)) return piece;
      const shown = piece.slice(0, left);
      left -= shown.length;
      return shown;
    })
    .join('');
}

let isColored = false;

/** Decides for this process whether tones become colors, before it prints anything. */
export function chooseColors(
  choice: ColorChoice,
  { NO_COLOR = '', TERM }: Readonly<Record<string, string | undefined>> = process.env,
  isTerminal: boolean = process.stdout.isTTY,
): void {
  isColored = choice === 'always' || (choice === 'auto' && isTerminal && NO_COLOR === '' && TERM !== 'dumb');
}

/** Lines as they are written: tones are colors, or nothing, and whatever else would control a terminal is escaped. */
export function written(lines: string): string {
  if (!isColored) return printableLines(withoutTones(lines));
  let mark = '';
  return lines
    .split(MARKS)
    .map((piece) => {
      if (MARKS.test(piece)) {
        mark = piece;
        return '';
      }
      const text = printableLines(piece);
      return mark in COLORS && text !== ''
        ? styleText(COLORS[mark as keyof typeof COLORS], text, { validateStream: false })
        : text;
    })
    .join('');
}
