import type { Clock } from '../../application/ports/clock.js';
import type { Routes } from '../http/router.js';
import { unixDate, upTime } from './zpage-times.js';
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
  /** `v1.36.0`. */
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
        title: 'flagz',
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
    title: 'statusz',
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
