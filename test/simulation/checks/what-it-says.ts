import type { DifferenceReport } from '../../../src/diagnostics/application/difference/difference-report.js';
import type { ProxyStatus } from '../../../src/diagnostics/application/status/proxy-status.js';
import type { ServiceList } from '../../../src/diagnostics/application/status/service-row.js';
import type { Simulation } from '../simulation.js';
import { chosenOf } from '../steps/foreign/deed.js';
import { ask, HEALTH, isProgrammed, METRICS } from './ask.js';
import { falseExplanation } from './explanation-truth.js';
import { presentModel } from './health-ports.js';
import { falseMetric } from './metrics-truth.js';

/**
 * What the program says of itself when nothing is wrong any more: that all is good, of each Service that it serves.
 * @param asked what it is asked for besides: `diff`, or an explanation and the metrics
 */
export async function untruthOf(
  simulation: Simulation,
  asked: 'diff' | 'metrics' | undefined,
): Promise<string | undefined> {
  const { world, history } = simulation;
  const status = JSON.parse((await ask(world, METRICS, '/debug/status')).body) as ProxyStatus;
  if (status.state !== 'ok') return `status says ${status.state}: ${status.reasons.join('; ')}`;
  if (!status.inSync) return `status says that it waits: ${status.pendingReasons.join('; ')}`;
  for (const { family, programmed, degraded } of status.families) {
    const counted = programmed + degraded.length;
    const ports = history.ports.filter((port) => port.family === family);
    if (counted !== ports.length)
      return `status counts ${counted} service ports of ${family} that are programmed; there are ${ports.length}`;
  }
  const ready = await ask(world, HEALTH, '/readyz');
  if (ready.status !== 200) return `/readyz says ${ready.status}: ${ready.body}`;
  const healthy = await ask(world, HEALTH, '/healthz');
  if (healthy.status !== 200) return `/healthz says ${healthy.status}: ${healthy.body}`;
  const { services } = JSON.parse((await ask(world, METRICS, '/debug/services')).body) as ServiceList;
  const listed = new Map(services.map((row) => [`${row.namespace}/${row.name}`, row]));
  const conflicts = presentModel(simulation).conflicts();
  for (const service of history.services) {
    const ports = history.current(service);
    const row = listed.get(service);
    if (ports.length > 0 && !row) return `${service} is served and not listed`;
    const contested = conflicts.includes(service);
    if (row && ports.length > 0 && row.state !== 'ok' && !contested && !(await isProgrammed(world, service)))
      return `${service} is served and said to be ${row.state}: ${row.reason}`;
    if (row && ports.length === 0 && row.frontends.length > 0)
      return `${service} is not served and said to be ${row.state}`;
  }
  const served = history.services.filter((service) => history.current(service).length > 0);
  const unknown = services.find(
    ({ namespace, name, frontends }) => frontends.length > 0 && !served.includes(`${namespace}/${name}`),
  );
  if (unknown) return `${unknown.namespace}/${unknown.name} is listed as ${unknown.state} and does not exist`;
  if (asked === undefined) return undefined;
  if (asked === 'metrics') {
    const explained = chosenOf(served, world.machine.commits);
    const untruth = explained === undefined ? undefined : await falseExplanation(simulation, explained);
    return untruth ?? falseMetric(simulation);
  }
  const { families } = JSON.parse((await ask(world, METRICS, '/debug/diff')).body) as DifferenceReport;
  const lines = families.flatMap((family) => family.lines);
  return lines.length === 0 ? undefined : `diff finds ${JSON.stringify(lines.slice(0, 3))}`;
}
