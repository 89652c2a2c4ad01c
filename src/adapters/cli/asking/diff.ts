import { differenceAnswer } from '../../../application/difference/difference-report.js';
import { isNone } from '../../../application/difference/difference-report.js';
import { differenceLines } from '../texts/difference.js';
import type { Asked } from '../arguments/subcommands.js';
import { formatted } from '../output/formatted.js';
import { print } from '../output/print.js';
import { CannotAskError } from './cannot-ask-error.js';
import { COMPARISON, RunningProxy } from './running-proxy.js';
import { complainOf, withUnknown } from './unknown-service.js';

/**
 * Asks the proxy running on this node what the kernel has otherwise than desired, and prints it. 1 when there is anything, or
 * no such Service.
 * @throws CannotAskError also when the proxy does not know
 */
export async function diff({ request, configuration }: Asked<'diff'>): Promise<number> {
  const { service, output } = request;
  const query = service === undefined ? '' : `?service=${encodeURIComponent(service)}`;
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const report = await proxy.ask(`/debug/diff${query}`, differenceAnswer, COMPARISON);
  const answer = await withUnknown(proxy, service, report, isNone(report));
  await print(formatted(output, answer, differenceLines));
  const problems = report.families.flatMap(({ problem }) => problem ?? []);
  if (problems.length > 0) throw new CannotAskError(`the proxy cannot compare: ${problems.join('; ')}`);
  return complainOf(answer.unknown) || !isNone(report) ? 1 : 0;
}
