import type { Step } from '../schedule/schedule.js';
import type { Simulation } from '../simulation.js';
import type { Mode } from '../world/settings.js';

const REASON = 'ProgrammingFailed';
const HARMLESS: ReadonlySet<string> = new Set(['start', 'put', 'delete', 'flows', 'trouble']);
/** Errors that say nothing of what is written (docs/behavior/recovery.md). */
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

/** The kernel's reasons in the words of iptables-nft; iptables-legacy has none, and is always believed. */
const REASONS: Readonly<Partial<Record<string, string>>> = {
  Invalid_argument: 'EINVAL',
  No_such_file_or_directory: 'ENOENT',
};
/** Exit codes of iptables-restore with which it names no line. */
const NAMES_NO_LINE: ReadonlySet<string> = new Set(['2', '4', '137']);

/** How often a Service was blamed so far, in events. */
export function blamesSoFar({ cluster: { api } }: Simulation): number {
  return api.objects('events.k8s.io/v1', 'Event').filter(({ reason }) => reason === REASON).length;
}

/** Whether what has happened is nobody's fault. In mode ipvs what fails may be ipset, whose words say less. */
export function isNobodysFault(steps: readonly Step[], mode: Mode): boolean {
  const isFault = ({ name }: Step): boolean =>
    name === 'kernel-fault' || (name === 'program-fault' && mode === 'iptables');
  return steps.every((step) => HARMLESS.has(step.name) || (isFault(step) && isOfTheMoment(step)));
}

/** Whether what the kernel or a program answers in this fault says nothing of what is written. */
export function isOfTheMoment(fault: Step): boolean {
  return OF_THE_MOMENT.has(errorOf(fault));
}

/** Whether it is about what is written of some Service. */
export function isAboutRules(fault: Step): boolean {
  return OF_RULES.has(errorOf(fault));
}

/**
 * Whether a Service may be blamed that has not changed: iptables-restore writes chains that have rules of all (docs/behavior/recovery.md).
 */
export function mayConcernOthers({ name, args: [kind = ''] }: Step): boolean {
  return name === 'program-fault' && kind !== 'set-lines-refused';
}

/** The Service of which alone something is refused in this fault. */
export function refusedServiceOf({ args: [kind = '', service = ''] }: Step): string | undefined {
  return kind === 'rules-refused' && service.includes('/') ? service : undefined;
}

/** What stands for it among errors of the kernel; empty where anything may be meant. */
function errorOf(fault: Step): string {
  const [kind, what = '', reason = ''] = fault.args;
  if (kind === 'service') return reason;
  if (kind === 'lock-held' || kind === 'killed') return 'EAGAIN';
  if (kind === 'fails') return what !== 'ipset' && NAMES_NO_LINE.has(reason) ? 'EAGAIN' : '';
  // A member of a set has an owner; a set that cannot be made has none.
  if (kind === 'set-lines-refused') return what.endsWith(',') ? 'EINVAL' : '';
  if (kind !== 'rules-refused') return what;
  // Among all rules are the node's own.
  return refusedServiceOf(fault) === undefined ? '' : (REASONS[reason] ?? '');
}
