import type { ProxyStatus, Versions, WatchStatus } from '../status/proxy-status.js';
import type { TroubledPort } from '../status/service-statuses.js';
import { family, familyHistory } from './node-shapes.js';
import { fields, flag, list, number, oneOf, optional, text, time, word } from './shape.js';

const troubledPorts = list(fields<TroubledPort>({ key: text, reason: text, since: time }));

/** The answer to `/debug/status`. */
export const statusAnswer = fields<ProxyStatus>({
  state: oneOf('good', 'degraded', 'not-serving'),
  reasons: list(text),
  node: text,
  mode: text,
  versions: fields<Versions>({ program: text, kubernetes: text, node: text, kernel: text }),
  startedAt: time,
  now: time,
  inSync: flag,
  lag: number,
  waiting: list(text),
  families: list(
    fields({
      family,
      inSync: flag,
      waiting: number,
      waitingSince: optional(time),
      programmed: number,
      failed: troubledPorts,
      degraded: troubledPorts,
      sync: familyHistory,
    }),
  ),
  ignored: list(text),
  watches: list(
    fields<WatchStatus>({
      kind: word<WatchStatus['kind']>(),
      state: word<WatchStatus['state']>(),
      connected: flag,
      objects: number,
      silence: optional(number),
      failure: optional(text),
    }),
  ),
  lastErrors: list(fields({ at: time, text })),
});
