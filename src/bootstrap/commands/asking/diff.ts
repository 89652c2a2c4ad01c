import { isNone, type DifferenceReport } from '../../../application/difference/difference-report.js';
import { differenceText } from '../../../application/difference/difference-text.js';
import type { Asked } from '../../configuration/command-line.js';
import { formatted } from '../output/formatted.js';
import { print } from '../output/print.js';
import { CannotAskError } from './cannot-ask-error.js';
import { RunningProxy } from './running-proxy.js';

/** Reading 100,000 Services with the iptables tools takes half of that, and changes come first. Milliseconds. */
const TIMEOUT = 60_000;

/**
 * Asks the proxy running on this node what the kernel has otherwise than desired, and prints it. 1 when there is anything.
 * @throws CannotAskError also when the proxy does not know
 */
export async function diff({ request, configuration }: Asked<'diff'>): Promise<number> {
  const { service, output } = request;
  const query = service === undefined ? '' : `?service=${encodeURIComponent(service)}`;
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const report = await proxy.ask<DifferenceReport>(`/debug/diff${query}`, TIMEOUT);
  await print(formatted(output, report, differenceText));
  const problems = report.families.flatMap(({ problem }) => problem ?? []);
  if (problems.length > 0) throw new CannotAskError(`the proxy cannot compare: ${problems.join('; ')}`);
  return isNone(report) ? 0 : 1;
}
