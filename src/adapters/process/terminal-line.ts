import { styleText } from 'node:util';
import type { LogRecord } from './log-record.js';
import { jsonText, printable, quote } from './quote.js';

type Style = Parameters<typeof styleText>[0];

const STYLES: Readonly<Record<string, Style>> = { debug: 'dim', info: 'green', warn: 'yellow', error: 'red' };

/** A record for people at a terminal: `19:04:12.345 WARN  what happened  fact=value other="two words"`. */
export function terminalLine(
  { level, time, message, facts }: LogRecord,
  colored = process.env['NO_COLOR'] === undefined,
): string {
  const style = (how: Style, text: string): string =>
    colored ? styleText(how, text, { validateStream: false }) : text;
  const date = new Date(time);
  const clock = `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
  const head = `${style('dim', clock)} ${style(STYLES[level] ?? 'reset', level.toUpperCase().padEnd(5))} ${printable(message)}`;
  const shown = facts.map(([name, value]) => `${style('dim', `${name}=`)}${valueText(value)}`);
  return `${head}${shown.length > 0 ? '  ' : ''}${shown.join(' ')}\n`;
}

function valueText(value: unknown): string {
  if (typeof value !== 'string') return jsonText(value);
  return /^[^\s"=\p{C}]+$/u.test(value) ? value : quote(value);
}
