/** Prints results: text with colors and columns, JSON, YAML or names. */

import { once } from 'node:events';
import { dump } from 'js-yaml';
import { printable, printableJson, printableLines } from '../../../adapters/process/quote.js';
import { cutText } from '../../../application/cut-text.js';
import type { OutputFormat } from './options.js';
import { styleText } from 'node:util';
import type { ColorChoice } from '../../../adapters/cli/subcommand.js';

/**
 * Writes lines to standard output, and waits until a slow reader has read them: the program ends immediately after its command. A
 * closed reader, such as `head`, gets no more. They contain no control characters of a terminal; callers that make lines of other texts
 * keeps these from forging one (`formatted`).
 */
export async function print(lines: string): Promise<void> {
  if (process.stdout.write(written(lines))) return;
  try {
    await once(process.stdout, 'drain');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}

/**
 * A value in the requested format, with its end of line. JSON and YAML are the value itself. Its texts may be of others: none can
 * control a terminal or forge a line, and in format `text` long ones are cut.
 * @param names of what is listed, as kubectl writes them; missing: `name` is not among the formats of the command
 */
export function formatted<Value>(
  format: OutputFormat,
  value: Value,
  lines: (value: Value, isWide: boolean) => readonly string[],
  names: (value: Value) => readonly string[] = () => [],
): string {
  switch (format) {
    case 'json':
      return `${printableJson(JSON.stringify(value, undefined, 2))}\n`;
    case 'yaml':
      return dump(mapTexts(value, printable), { lineWidth: -1, noRefs: true, skipInvalid: true });
    case 'text':
      return linesText(
        lines(
          mapTexts(value, (one) => printable(cutText(one))),
          false,
        ),
      );
    case 'wide':
      return linesText(lines(mapTexts(value, printable), true));
    case 'name':
      return linesText(names(mapTexts(value, printable)));
  }
}

/** Lines as one text, each with its end. */
export function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** JSON on one line, with its end. */
export function jsonLine(value: unknown): string {
  return `${printableJson(JSON.stringify(value))}\n`;
}

/** The same value with every text in it changed, names of fields included. */
function mapTexts<Value>(value: Value, change: (text: string) => string): Value {
  return mapped(value, change) as Value;
}

function mapped(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((member) => mapped(member, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [change(name), mapped(field, change)]),
  );
}

/** Two spaces, as kubectl has three: lines stay short. */
const GAP = '  ';

/** Rows as aligned columns below their headers, a line each. The last column is not padded. */
export function columns(headers: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const lines = [headers, ...rows];
  const widths = headers.map((_, index) =>
    lines.reduce((widest, line) => Math.max(widest, visibleLength(line[index]!)), 0),
  );
  const padded = (cell: string, index: number): string =>
    cell + ' '.repeat(widths[index]! - visibleLength(cell));
  return lines.map((line) => line.map(padded).join(GAP).trimEnd());
}

/** An object in the form of kubectl's `-o name`. */
export function objectName(kind: 'node' | 'service', name: string): string {
  return `${kind}/${name}`;
}

/** Characters for private use, which begin a tone and end it: no text of others has them in it, since `printable` escapes them. */
const COLORS = { '\ue000': 'green', '\ue001': 'yellow', '\ue002': 'red' } as const;
const [GOOD, DOUBTFUL, BAD] = Object.keys(COLORS) as readonly (keyof typeof COLORS)[];
const END = '\ue003';
const MARKS = /([\ue000-\ue003])/;
const ALL_MARKS = /[\ue000-\ue003]/g;

/** States and verdicts that are more than a fact, as answers have them. */
const TONES: Readonly<Record<string, string | undefined>> = {
  ...toned(GOOD!, 'good', 'ok', 'programmed', 'forward', 'valid', 'safe', '+'),
  ...toned(
    DOUBTFUL!,
    'degraded',
    'pending',
    'mixed',
    'no endpoint',
    'ejected',
    'repaired',
    'draining',
    'in-use',
    'unknown',
    'warning',
  ),
  ...toned(BAD!, 'not-serving', 'not-served', 'failed', 'sync-failed', 'reject', 'drop'),
  ...toned(BAD!, 'held', 'conflict', 'silent', 'different', 'error', '-'),
};

function toned(mark: string, ...words: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(words.map((word) => [word, mark]));
}

/** A text in the tone of a state or verdict: unchanged, if that has none. */
export function inToneOf(state: string, text = state): string {
  const mark = Object.hasOwn(TONES, state) ? TONES[state] : undefined;
  return mark === undefined || text === '' ? text : `${mark}${text}${END}`;
}

function withoutTones(text: string): string {
  // For most texts this is decided immediately.
  return MARKS.test(text) ? text.replace(ALL_MARKS, '') : text;
}

/** How many characters of it are seen. */
export function visibleLength(text: string): number {
  return withoutTones(text).length;
}

/** The part of a line that fits into the columns. */
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
