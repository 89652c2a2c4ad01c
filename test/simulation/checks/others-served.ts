import type { Step } from '../schedule/schedule.js';
import type { Simulation } from '../simulation.js';

/** Simulated milliseconds within which all others have what they ask for. */
const LIMIT = 120_000;
const LOOK_EVERY = 1_000;
/** What the kernel says of rules that it does not like, and not of its own state. */
const REFUSALS: ReadonlySet<string> = new Set([
  'EINVAL',
  'ENOENT',
  'EEXIST',
  'EOPNOTSUPP',
  'Invalid_argument',
  'No_such_file_or_directory',
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
  const end = world.now + LIMIT;
  while (world.now < end && !simulation.violation) {
    if (problem() === undefined) return undefined;
    await world.scheduler.runUntil(world.now + LOOK_EVERY, () => simulation.violation !== undefined);
  }
  return problem();
}

/** The Service whose rules this step has refused until all trouble ends. */
function refusedService({ name, args: [kind, service = '', reason = '', times] }: Step): string | undefined {
  if (!REFUSALS.has(reason)) return undefined;
  const isRefusal =
    (name === 'kernel-fault' && kind === 'service') ||
    (name === 'program-fault' && kind === 'rules-refused' && times === 'all' && service.includes('/'));
  return isRefusal ? service : undefined;
}
