import type { LogRecord } from './log-record.js';
import { jsonText, quote } from './quote.js';

const SEVERITY: Readonly<Record<string, string>> = { warn: 'W', error: 'E' };

/**
 * A record as klog writes it as text, the form that log pipelines of clusters expect:
 * `I1122 17:36:00.674000   20847 sync-loop:1] "synced" family="IPv4" written=4`. The part of the program stands in place of a
 * source file. The clock has milliseconds. Strings are quoted, numbers and booleans are bare, anything else is JSON.
 */
export function klogLine({ level, time, caller, message, facts }: LogRecord): string {
  const date = new Date(time);
  const two = (number: number): string => String(number).padStart(2, '0');
  const day = two(date.getMonth() + 1) + two(date.getDate());
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  const micros = `${String(date.getMilliseconds()).padStart(3, '0')}000`;
  const severity = SEVERITY[level] ?? 'I';
  const head = `${severity}${day} ${clock}.${micros} ${String(process.pid).padStart(7)} ${caller}:1]`;
  const shown = facts.map(
    ([name, value]) => `${name}=${typeof value === 'string' ? quote(value) : jsonText(value)}`,
  );
  return `${[head, quote(message), ...shown].join(' ')}\n`;
}
