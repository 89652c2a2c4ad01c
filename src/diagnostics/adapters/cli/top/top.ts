import { trafficAnswer, type PortReport, type TrafficReport } from '../../../domain/traffic.js';
import { serviceKey } from '../../../../domain/model/service-port-name.js';
import type { ServiceName } from '../command-line/service-names.js';
import type { Asked } from '../command-line/subcommands.js';
import type { RequestFor } from '../command-line/subcommands.js';
import { LONGEST_QUERY, listServices, ofNames } from '../asking/list-services.js';
import { RunningProxy } from '../asking/running-proxy.js';
import { unknownPorts } from '../asking/unknown-ports.js';
import { complainOf } from '../asking/unknown-service.js';
import { formatted, jsonLine } from '../output/formatted.js';
import { print } from '../output/print.js';
import { untilUserEnds } from '../watching/until-user-ends.js';
import { Screen } from './screen.js';
import { trafficLines } from '../texts/traffic.js';

/** A report comes as late as this after its interval. Milliseconds. */
const LATEST = 10_000;

/** Counting a million connections takes a minute. Milliseconds. */
const COUNTING = 300_000;

/**
 * Shows the connections of Services, as the proxy running on this node counts them, until the user ends it; with --once those
 * of one interval. 1 when no known Service has a name that was asked for.
 * @throws CannotAskError when no report comes when one is due
 */
export async function top({ request, configuration, once }: Asked<'top'>): Promise<number> {
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const { query, intervalMilliseconds, output } = request;
  const isLive = !once && process.stdout.isTTY && (output === 'text' || output === 'wide');
  const screen = isLive ? new Screen(process.stdin, process.stdout) : undefined;
  let last: TrafficReport | undefined;
  await untilUserEnds(async (ending) => {
    screen?.open(() => ending.abort());
    try {
      const path = pathOf(request, once, screen?.rows);
      const silence = intervalMilliseconds + (once ? COUNTING : LATEST);
      for await (const all of proxy.follow(path, trafficAnswer, silence, ending.signal)) {
        last = { ...all, services: all.services.filter((port) => isAskedFor(port, query)) };
        if (screen) screen.show(formatted(output, last, trafficLines));
        else await print(printed(last, request, once));
      }
    } finally {
      screen?.close();
    }
  });
  return last ? exitCode(proxy, query, last.services) : 0;
}

function pathOf({ query, intervalMilliseconds }: RequestFor<'top'>, once: boolean, limit?: number): string {
  const parameters = new URLSearchParams({
    interval: String(intervalMilliseconds / 1_000),
    sort: query.sort,
    ...(query.namespace !== undefined && { namespace: query.namespace }),
    ...(once && { once: 'true' }),
  });
  const names = new URLSearchParams(
    query.services.map(({ service }): [string, string] => ['service', service]),
  );
  // More names than a URL takes are chosen here, of all that have traffic.
  if (names.toString().length > LONGEST_QUERY) return `/debug/traffic?${parameters}`;
  for (const [name, service] of names) parameters.append(name, service);
  if (limit !== undefined) parameters.set('limit', String(limit));
  return `/debug/traffic?${parameters}`;
}

function isAskedFor(
  { namespace, name, port: portName }: PortReport,
  { services }: RequestFor<'top'>['query'],
): boolean {
  const isIt = ({ service, port = portName }: ServiceName): boolean =>
    port === portName && (service === name || service === serviceKey(namespace, name));
  return services.length === 0 || services.some(isIt);
}

/** Asks about the names of which no traffic is known. */
async function exitCode(
  proxy: RunningProxy,
  { namespace, services }: RequestFor<'top'>['query'],
  found: readonly PortReport[],
): Promise<number> {
  const seen = new Set(found.flatMap(({ namespace, name }) => [name, `${namespace}/${name}`]));
  const names = services.map(({ service }) => service);
  const missing = names.filter((name) => !seen.has(name));
  const isAll = names.length > 0 ? missing.length === 0 : namespace === undefined || found.length > 0;
  const { unknown } = isAll ? { unknown: [] } : await listServices(proxy, ofNames(missing, namespace));
  return complainOf([...unknown, ...(await unknownPorts(proxy, services, namespace))]) ? 1 : 0;
}

/** One after the other, JSON is one object a line, so that a program can read each as it comes. */
function printed(report: TrafficReport, { output }: RequestFor<'top'>, once: boolean): string {
  if (!once && output === 'json') return jsonLine(report);
  const text = formatted(output, report, trafficLines);
  return once ? text : output === 'yaml' ? `---\n${text}` : `${text}\n`;
}
