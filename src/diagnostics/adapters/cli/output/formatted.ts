import { stringify } from 'yaml';
import { printable, printableJson } from '../../../../adapters/process/quote.js';
import { cutText } from '../../../../application/cut-text.js';
import type { OutputFormat } from '../command-line/options.js';
import { mapTexts } from './map-texts.js';

/**
 * A value in the format asked for, with its end of line. JSON and YAML are the value itself. Its texts may be of others: none can
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
      return stringify(mapTexts(value, printable));
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
