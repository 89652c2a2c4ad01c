import type { Step } from '../schedule/schedule.js';
import type { Simulation } from '../simulation.js';

const REASON = 'FailedToProgramServicePort';
const HARMLESS: ReadonlySet<string> = new Set(['start', 'put', 'delete', 'flows', 'trouble']);
/** Errors that say nothing of what is written (docs/recovery.md). */
const OF_THE_MOMENT: ReadonlySet<string> = new Set([
  'ENOMEM',
  'ENOBUFS',
  'EINTR',
  'EAGAIN',
  'EBUSY',
  'EPERM',
]);

/** How often a Service was blamed so far, in events. */
export function blamesSoFar({ cluster: { api } }: Simulation): number {
  return api.objects('events.k8s.io/v1', 'Event').filter(({ reason }) => reason === REASON).length;
}

/** Whether what has happened is nobody's fault. */
export function isNobodysFault(steps: readonly Step[]): boolean {
  return steps.every(
    ({ name, args: [kind, error = '', text = ''] }) =>
      HARMLESS.has(name) || (name === 'kernel-fault' && OF_THE_MOMENT.has(kind === 'service' ? text : error)),
  );
}
