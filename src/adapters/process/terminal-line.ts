import { styleText } from 'node:util';
import { logRecord } from './log-record.js';
import { quote } from './quote.js';

type Style = Parameters<typeof styleText>[0];

const STYLES: Readonly<Record<string, Style>> = { debug: 'dim', info: 'green', warn: 'yellow', error: 'red' };

/** pino's JSON line for people at a terminal: `19:04:12.345 WARN  what happened  fact=value other="two words"`. */
export function terminalLine(line: string, coloured = process.env['NO_COLOR'] === undefined): string {
  const { level, ts, message, facts } = logRecord(line);
  const style = (how: Style, text: string): string =>
    coloured ? styleText(how, text, { validateStream: false }) : text;
  const time = new Date(ts);
  const clock = `${time.toTimeString().slice(0, 8)}.${String(time.getMilliseconds()).padStart(3, '0')}`;
  const head = `${style('dim', clock)} ${style(STYLES[level] ?? 'reset', level.toUpperCase().padEnd(5))} ${oneLine(message)}`;
  const shown = facts.map(([name, value]) => `${style('dim', `${name}=`)}${valueText(value)}`);
  return `${head}${shown.length > 0 ? '  ' : ''}${shown.join(' ')}\n`;
}

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[^\s"=\p{C}]+$/u.test(text) ? text : typeof value === 'string' ? quote(text) : oneLine(text);
}

/** Control characters could forge lines or steer a terminal. */
function oneLine(text: string): string {
  return text.replace(/\p{C}/gu, ' ');
}
