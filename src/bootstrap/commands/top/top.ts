import type { TrafficReport } from '../../../domain/traffic/traffic-report.js';
import type { Asked } from '../../configuration/command-line.js';
import type { TopRequest } from '../../configuration/subcommands/top.js';
import { RunningProxy } from '../asking/running-proxy.js';
import { formatted } from '../output/formatted.js';
import { Screen } from './screen.js';
import { trafficText } from './traffic-text.js';

/**
 * Shows the connections of Services, as the proxy running on this node counts them, until the user ends it; with --once those
 * of one interval. 1 when there are none of the Services that were named.
 */
export async function top({ request, configuration, once }: Asked<'top'>): Promise<number> {
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const isLive = !once && process.stdout.isTTY && (request.output === 'text' || request.output === 'wide');
  const screen = isLive ? new Screen(process.stdin, process.stdout) : undefined;
  const ending = new AbortController();
  const end = (): void => ending.abort();
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  // Whoever read the output has left, as `head` does.
  process.stdout.once('error', end);
  screen?.open(end);
  let found = true;
  try {
    const limit = screen?.rows;
    for await (const report of proxy.follow<TrafficReport>(pathOf(request, once, limit), ending.signal)) {
      found = request.query.services.length === 0 || report.services.length > 0;
      if (screen) screen.show(trafficText(report, request.output === 'wide'));
      else process.stdout.write(printed(report, request, once));
    }
  } finally {
    screen?.close();
  }
  return found ? 0 : 1;
}

function pathOf({ query, intervalMilliseconds }: TopRequest, once: boolean, limit?: number): string {
  const parameters = new URLSearchParams({
    interval: String(intervalMilliseconds / 1_000),
    sort: query.sort,
    ...(query.namespace !== undefined && { namespace: query.namespace }),
    ...(once && { once: 'true' }),
    ...(limit !== undefined && { limit: String(limit) }),
  });
  for (const service of query.services) parameters.append('service', service);
  return `/debug/traffic?${parameters}`;
}

/** One after the other, JSON is one object a line, so that a program can read each as it comes. */
function printed(report: TrafficReport, { output }: TopRequest, once: boolean): string {
  if (!once && output === 'json') return `${JSON.stringify(report)}\n`;
  const text = formatted(output, report, trafficText);
  return once ? text : output === 'yaml' ? `---\n${text}` : `${text}\n`;
}
