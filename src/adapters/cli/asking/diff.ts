import { differenceAnswer } from '../../../application/difference/difference-report.js';
import { isNone, type DifferenceReport } from '../../../application/difference/difference-report.js';
import { differenceLines } from '../texts/difference.js';
import { parseDisplayName } from '../../../domain/model/service-port-name.js';
import type { Asked } from '../command-line/subcommands.js';
import { formatted } from '../output/formatted.js';
import { print } from '../output/print.js';
import { CannotAskError } from './cannot-ask-error.js';
import { COMPARISON, RunningProxy } from './running-proxy.js';
import { findServices, type FoundServices } from './find-services.js';
import { complainOf } from './unknown-service.js';

/**
 * Asks the proxy running on this node what the kernel has otherwise than desired, and prints it. 1 when there is anything, or
 * no such Service.
 * @throws CannotAskError also when the proxy does not know
 */
export async function diff({ request, configuration }: Asked<'diff'>): Promise<number> {
  const { services, output } = request;
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const found = await findServices(proxy, services);
  const told = await proxy.ask(`/debug/diff?${found.parameters.toString()}`, differenceAnswer, COMPARISON);
  const report = ofServices(told, found);
  const answer = await found.withUnknown(proxy, report, isNone(report));
  await print(formatted(output, answer, differenceLines));
  const problems = report.families.flatMap(({ problem }) => problem ?? []);
  if (problems.length > 0) throw new CannotAskError(`the proxy cannot compare: ${problems.join('; ')}`);
  return complainOf(answer.unknown) || !isNone(report) ? 1 : 0;
}

/** Only what concerns the ports that were asked for. */
function ofServices({ mode, families }: DifferenceReport, found: FoundServices): DifferenceReport {
  const isMeant = (servicePort = ''): boolean => {
    const { service, port } = parseDisplayName(servicePort);
    return found.hasPort(service, port);
  };
  return {
    mode,
    families: families.map((one) => ({
      ...one,
      lines: one.lines.filter(({ servicePort }) => isMeant(servicePort)),
    })),
  };
}
