import { timeText } from '../../domain/model/text.js';

/** When an endpoint stepped aside and is tried again, in milliseconds since the epoch. */
export interface AsideTimes {
  readonly since: number;
  readonly until: number;
}

/** What follows the number of endpoints that are used. Empty if none steps aside. */
export function asideCountWords(aside = 0): string {
  return aside === 0 ? '' : ` (${aside} aside)`;
}

/** Why an endpoint that is ready gets no new connections: on terminals and on the page alike. */
export function asideWords({ since, until }: AsideTimes): string {
  return `steps aside since ${timeText(since)}, because the last connections to it got no answer; tried again at ${timeText(until)}`;
}
