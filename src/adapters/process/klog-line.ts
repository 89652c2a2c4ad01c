import { logRecord } from './log-record.js';
import { quote } from './quote.js';

const SEVERITY: Readonly<Record<string, string>> = { warn: 'W', error: 'E' };

/**
 * pino's JSON line as klog writes text, which is what log pipelines of clusters expect:
 * `I1122 17:36:00.674000   20847 sync-loop:1] "synced" family="IPv4" written=4`. In the place of a source file stands the
 * part of the program. The clock has milliseconds.
 */
export function klogLine(line: string): string {
  const { level, ts, caller, message, facts } = logRecord(line);
  const time = new Date(ts);
  const two = (number: number): string => String(number).padStart(2, '0');
  const date = two(time.getMonth() + 1) + two(time.getDate());
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':');
  const micros = `${String(time.getMilliseconds()).padStart(3, '0')}000`;
  const severity = SEVERITY[level] ?? 'I';
  const head = `${severity}${date} ${clock}.${micros} ${String(process.pid).padStart(7)} ${caller}:1]`;
  const shown = facts.map(([name, value]) => `${name}=${valueText(value)}`);
  return `${[head, quote(message), ...shown].join(' ')}\n`;
}

/** Strings quoted, numbers and booleans bare, anything else as JSON. */
function valueText(value: unknown): string {
  return typeof value === 'string' ? quote(value) : jsonText(value);
}

/** As JSON, with the control characters that JSON lets through escaped too. */
function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\p{C}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
