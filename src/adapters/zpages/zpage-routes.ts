import type { Clock } from '../../application/ports/clock.js';
import type { Routes } from '../http/router.js';
import { zpageHandler } from './zpage.js';

export interface ZpageOptions {
  /** Undefined: there is no such page. */
  readonly flags?: (() => readonly (readonly [name: string, value: string])[]) | undefined;
  /** Undefined: there is no such page. */
  readonly status?: ComponentStatus | undefined;
}

export interface ComponentStatus {
  /** Milliseconds since the epoch. */
  readonly startTime: number;
  /** `v1.37.0`. */
  readonly version: string;
  /** Other served paths. */
  readonly paths: readonly string[];
}

/** `/flagz` and `/statusz` (docs/spec/server.md §9). */
export function zpageRoutes({ flags, status }: ZpageOptions, clock: Clock): Routes {
  return {
    ...(flags && {
      '/flagz': zpageHandler({
        kind: 'Flagz',
        lines: flags,
        fields: () => ({ flags: Object.fromEntries(flags()) }),
      }),
    }),
    ...(status && { '/statusz': statusHandler(status, clock) }),
  };
}

function statusHandler({ startTime, version, paths: served }: ComponentStatus, clock: Clock) {
  const paths = [...new Set(served.map((path) => `/${path.split('/', 2)[1]}`))].sort();
  const binary = version.slice(1);
  const emulated = binary.split('.', 2).join('.');
  const runtime = `node ${process.version}`;
  const seconds = () => Math.floor((clock.now() - startTime) / 1000);
  return zpageHandler({
    kind: 'Statusz',
    lines: () => [
      ['Started', unixDate(startTime)],
      ['Up', upTime(seconds())],
      ['Go version', runtime],
      ['Binary version', binary],
      ['Emulation version', emulated],
      ['Paths', paths.join(' ')],
    ],
    fields: () => ({
      startTime: new Date(startTime).toISOString().replace(/\.\d+/, ''),
      uptimeSeconds: seconds(),
      goVersion: runtime,
      binaryVersion: binary,
      emulationVersion: emulated,
      paths,
    }),
  });
}

/** As `date -u` prints it: `Fri Sep  6 06:19:51 UTC 2024`. */
export function unixDate(milliseconds: number): string {
  const [weekday = '', day = '', month = '', year = '', time = ''] = new Date(milliseconds)
    .toUTCString()
    .replace(',', '')
    .split(' ');
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`;
}

/** `3 hr 07 min 09 sec`. */
export function upTime(seconds: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`;
}
