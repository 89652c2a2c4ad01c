const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The local time of day, of RFC 3339 or milliseconds since the epoch: `14:02:11`; with the date unless that is today's. */
export function clockTime(time: string | number, now = Date.now()): string {
  // Swedish is written as `2026-05-04 14:02:11`.
  const [date, clock = ''] = new Date(time).toLocaleString('sv').split(' ');
  return new Date(now).toLocaleDateString('sv') === date ? clock : `${date} ${clock}`;
}

/** A duration in one unit: `850 ms`, `4.2 s`, `3 min`, `5 h`, `12 d`. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 10) return `${Number(milliseconds.toFixed(1))} ms`;
  if (milliseconds < SECOND) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 10 * SECOND) return `${Number((milliseconds / SECOND).toFixed(1))} s`;
  if (milliseconds < 2 * MINUTE) return `${Math.round(milliseconds / SECOND)} s`;
  if (milliseconds < 2 * HOUR) return `${Math.round(milliseconds / MINUTE)} min`;
  if (milliseconds < 2 * DAY) return `${Math.round(milliseconds / HOUR)} h`;
  return `${Math.round(milliseconds / DAY)} d`;
}

/** `1 endpoint`, `2 endpoints`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** Whether a text has all words of a search, in upper or lower case. */
export function hasWords(text: string, search: string): boolean {
  const searched = text.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word));
}

/** A text by which addresses and ports are sorted as numbers: `10.2.0.1:80` comes before `10.10.0.1:80`, and `fd00::9` before `fd00::10`. */
export function addressRank(text: string): string {
  return text.replace(/[\da-f]+/g, (digits) => digits.padStart(5, '0'));
}
