import { isDeepStrictEqual } from 'node:util';
import type { Step } from '../schedule/schedule.js';
import type { Simulation } from '../simulation.js';
import { mayFindSilence } from './budgets.js';
import { presentModel } from './health-ports.js';
import { lasting } from './lasting.js';

/** Simulated milliseconds within which all others have what they ask for. */
const LIMIT = 120_000;
/** What the kernel says of rules that it does not like, and not of its own state. */
const REFUSALS: ReadonlySet<string> = new Set([
  'EINVAL',
  'ENOENT',
  'EEXIST',
  'EOPNOTSUPP',
  'Invalid_argument',
  'No_such_file_or_directory',
]);
const PROGRAMMING_FAILED = 'ProgrammingFailed';
/** Simulated milliseconds. */
const REPORTED_WITHIN = 30_000;
const LETS_EVENTS_PASS: ReadonlySet<string> = new Set([
  'start',
  'put',
  'delete',
  'take-over',
  'flows',
  'kernel-fault',
  'program-fault',
  'kill',
  'terminate',
  'restart',
  'interrupt',
]);
const HARMLESS: ReadonlySet<string> = new Set(['start', 'put', 'delete']);

/**
 * While the kernel rejects the rules of one Service for good, all others are served as they ask.
 * @param steps what has happened since all was quiet
 * @returns whose rules are missing, and what packets meet; undefined if all is well, or if something else is wrong, too
 */
export async function unservedBeside(
  simulation: Simulation,
  steps: readonly Step[],
): Promise<string | undefined> {
  const refused = steps.map(refusedService);
  const troubled = refused.filter((service) => service !== undefined);
  if (troubled.length === 0 || steps.some(({ name }, index) => !HARMLESS.has(name) && !refused[index]))
    return undefined;
  const { world, history, everyCommit } = simulation;
  const problem = (): string | undefined => {
    for (const service of history.services) {
      // Texts that stand for one Service may stand for others, too: `shop/s1` and `shop/s12`.
      if (troubled.some((name) => service.startsWith(name))) continue;
      const found = everyCommit.problemOf(service, 'current');
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return lasting(world, () => (simulation.violation ? undefined : problem()), world.now + LIMIT);
}

/**
 * While the kernel rejects the rules of a Service for good, an event tells the Service's users.
 * @param steps what has happened since all was quiet
 * @returns for which Service there is none; undefined if there is one for each
 */
export async function unreportedRejection(
  simulation: Simulation,
  steps: readonly Step[],
): Promise<string | undefined> {
  const { cluster, everyCommit, history, world } = simulation;
  const { source } = world.settings;
  const refused = new Set(steps.flatMap((step) => refusedService(step) ?? []));
  // Nobody has heard of the change while a watch is silent, or not back yet.
  if (mayFindSilence(simulation) || !cluster.isFollowed) return undefined;
  // Events cannot be posted while the API server is in trouble, and go to the log where there is none.
  if (source !== 'api' || refused.size === 0 || steps.some(({ name }) => !LETS_EVENTS_PASS.has(name)))
    return undefined;
  for (const service of refused) {
    if (!history.services.includes(service)) continue;
    const isWrong = (): boolean => everyCommit.problemOf(service, 'current') !== undefined;
    if (isWrong()) simulation.active.add('rejected Services have events');
    const silent = (): true | undefined =>
      isWrong() && !hasEvent(simulation, service, PROGRAMMING_FAILED) && !simulation.violation
        ? true
        : undefined;
    if (await lasting(world, silent, world.now + REPORTED_WITHIN))
      return `${service} is rejected, and has no event ${PROGRAMMING_FAILED}`;
  }
  return undefined;
}

/** A Service that lacks an address and port, since another one has it, and has no event; undefined if there is none. */
export function unreportedConflict(simulation: Simulation): string | undefined {
  const { history, schedule, world } = simulation;
  const conflicts = presentModel(simulation).conflicts();
  if (conflicts.length > 0) simulation.active.add('conflicts have events');
  // Events are written to the log where there is no API server. A backup lacks the last ones.
  const isRestored = schedule.steps.some(({ name, args }) => name === 'trouble' && args[0] === 'restored');
  if (world.settings.source !== 'api' || isRestored) return undefined;
  const silent = conflicts
    .filter((service) => history.services.includes(service))
    .find((service) => !hasEvent(simulation, service, 'FrontendConflict'));
  return silent && `${silent} lacks an address that another Service has, and has no event`;
}

/** Whether the API server has an event of that reason on the Service. */
function hasEvent({ cluster }: Simulation, service: string, reason: string): boolean {
  const [namespace, name] = service.split('/');
  const subject = { apiVersion: 'v1', kind: 'Service', namespace, name };
  return cluster.api
    .objects('events.k8s.io/v1', 'Event')
    .some((event) => event['reason'] === reason && isDeepStrictEqual(event['regarding'], subject));
}

/** The Service whose rules this step has refused until all trouble ends. */
function refusedService({ name, args: [kind, service = '', reason = '', times] }: Step): string | undefined {
  if (!REFUSALS.has(reason)) return undefined;
  const isRefusal =
    (name === 'kernel-fault' && kind === 'service') ||
    (name === 'program-fault' && kind === 'rules-refused' && times === 'all' && service.includes('/'));
  return isRefusal ? service : undefined;
}
