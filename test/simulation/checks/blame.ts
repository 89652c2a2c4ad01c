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

/** Errors that are about what is written, whatever else is there. */
const OF_RULES: ReadonlySet<string> = new Set(['EINVAL', 'ENOENT', 'EEXIST']);

/** How often a Service was blamed so far, in events. */
export function blamesSoFar({ cluster: { api } }: Simulation): number {
  return api.objects('events.k8s.io/v1', 'Event').filter(({ reason }) => reason === REASON).length;
}

/** Whether what has happened is nobody's fault. */
export function isNobodysFault(steps: readonly Step[]): boolean {
  return steps.every(
    (step) => HARMLESS.has(step.name) || (step.name === 'kernel-fault' && isOfTheMoment(step)),
  );
}

/** Whether what the kernel answers in this fault of it says nothing of what is written. */
export function isOfTheMoment(fault: Step): boolean {
  return OF_THE_MOMENT.has(errorOf(fault));
}

/** Whether it is about what is written. */
export function isAboutRules(fault: Step): boolean {
  return OF_RULES.has(errorOf(fault));
}

function errorOf({ args: [kind, error = '', ofService = ''] }: Step): string {
  return kind === 'service' ? ofService : error;
}
