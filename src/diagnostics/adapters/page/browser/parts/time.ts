const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The local time of day, of RFC 3339 or milliseconds since the epoch: `14:02:11`; with the date unless that is today's. */
export function clockTime(time: string | number, now = Date.now()): string {
  const at = new Date(time);
  const two = (value: number): string => String(value).padStart(2, '0');
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');
  if (at.toDateString() === new Date(now).toDateString()) return clock;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock}`;
}

/** A span in one unit: `850 ms`, `4.2 s`, `3 min`, `5 h`, `12 d`. */
export function span(milliseconds: number): string {
  if (milliseconds < 10) return `${round(milliseconds, 1)} ms`;
  if (milliseconds < SECOND) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 10 * SECOND) return `${round(milliseconds / SECOND, 1)} s`;
  if (milliseconds < 2 * MINUTE) return `${Math.round(milliseconds / SECOND)} s`;
  if (milliseconds < 2 * HOUR) return `${Math.round(milliseconds / MINUTE)} min`;
  if (milliseconds < 2 * DAY) return `${Math.round(milliseconds / HOUR)} h`;
  return `${Math.round(milliseconds / DAY)} d`;
}

/** `1 endpoint`, `2 endpoints`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
