import type { ProxyStatus } from '../../../src/diagnostics/application/status/proxy-status.js';
import type { ServiceList } from '../../../src/diagnostics/application/status/service-row.js';
import type { Step } from '../schedule/schedule.js';
import type { Simulation } from '../simulation.js';
import { ask, isProgrammed, METRICS } from './ask.js';
import { mayFindSilence } from './budgets.js';

/** After these the program knows of everything that is missing: nobody else has changed the kernel, and it hears of the cluster. */
const KNOWN_TO_IT: ReadonlySet<string> = new Set([
  ...[
    'start',
    'put',
    'delete',
    'take-over',
    'relabel',
    'misconfigure',
    'flows',
    'kill',
    'terminate',
    'restart',
    'interrupt',
  ],
  ...['program-fault', 'kernel-fault'],
]);
/**
 * What status says of what may still serve a former port, and nothing tells whose it was: rules that stay for what cannot be read, or is
 * not valid (docs/behavior/life-cycle.md), and what an earlier process left and the kernel does not remove (docs/behavior/recovery.md).
 */
const KEEPS_FORMER = ['rules that no object explains are kept', 'of rules that no Service has'];
/** What it hears of late, or not at all. */
const UNHEARD: ReadonlySet<string> = new Set(['notifications', 'commits']);

/**
 * What packets meet although the program says that all is good and in sync, or that this Service is programmed; undefined if it does not
 * say so, or rightly, or where it may not know.
 */
export async function falsePraise(
  simulation: Simulation,
  steps: readonly Step[],
): Promise<string | undefined> {
  const { world, everyCommit, history } = simulation;
  const mayNotKnow = steps.some(
    ({ name, args: [kind = ''] }) => !KNOWN_TO_IT.has(name) || (name === 'kernel-fault' && UNHEARD.has(kind)),
  );
  // At the frontends of another Service packets show what is programmed of that one.
  if (simulation.isContested) return undefined;
  if (mayNotKnow || mayFindSilence(simulation) || world.settings.source !== 'api' || !world.proxy.isRunning)
    return undefined;
  // One that ends follows the cluster no more, and may answer for a second and a half, while it posts its last events.
  if (world.proxy.hasLogged((message) => message.startsWith('stopping;'))) return undefined;
  const answer = await ask(world, METRICS, '/debug/status').catch(() => undefined);
  if (answer?.status !== 200) return undefined;
  const { state, inSync, reasons } = JSON.parse(answer.body) as ProxyStatus;
  if (state === 'ok' && inSync) return everyCommit.presentProblem([simulation.mode]);
  // The list says what of the present mode is written; that packets may meet rules of another one until these are removed, the status has
  // said.
  if (simulation.modes.size > 1) return undefined;
  const list = await ask(world, METRICS, '/debug/services').catch(() => undefined);
  if (list?.status !== 200) return undefined;
  const { services } = JSON.parse(list.body) as ServiceList;
  // The list is about the ports that a Service has; that rules of a former one may stay the status has said.
  const keepsFormer = reasons.some((reason) => KEEPS_FORMER.some((words) => reason.includes(words)));
  for (const { namespace, name, state: said } of services) {
    const service = `${namespace}/${name}`;
    if (!history.services.includes(service)) continue;
    if (said !== 'ok' && !(await isProgrammed(world, service))) continue;
    const problem = everyCommit.problemOf(service, keepsFormer ? 'known' : 'current');
    if (problem !== undefined) return `although it is said to be programmed: ${problem}`;
  }
  return undefined;
}
