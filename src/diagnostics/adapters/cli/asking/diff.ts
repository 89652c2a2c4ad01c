import {
  differenceAnswer,
  isNone,
  linesOf,
  type DifferenceReport,
} from '../../../application/difference/difference-report.js';
import { differenceLines, watchedDifferenceLines, type WatchedDifference } from '../texts/difference.js';
import { parseDisplayName } from '../../../../domain/model/service-port-name.js';
import type { OutputFormat } from '../command-line/options.js';
import type { Asked } from '../command-line/subcommands.js';
import { formatted } from '../output/formatted.js';
import { print } from '../output/print.js';
import { untilUserEnds } from '../watching/until-user-ends.js';
import { restAfterCostly, watch } from '../watching/watch.js';
import { CannotAskError } from './cannot-ask-error.js';
import { COMPARISON, RunningProxy } from './running-proxy.js';
import { findServices, type FoundServices, type ServiceAndPort } from './find-services.js';
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
  if (request.watch) return watchDifference(proxy, found, output);
  const report = await compare(proxy, found);
  const answer = await found.withUnknown(proxy, report, toldOf(report));
  await print(formatted(output, answer, differenceLines));
  refuseUnknown(report);
  return complainOf(answer.unknown) || !isNone(report) ? 1 : 0;
}

/**
 * A family is told again when something else differs in it, and when nothing does any more; what becomes unknown later, too. Names that
 * no Service has are told at the beginning. The exit code is that of the last answer.
 */
async function watchDifference(
  proxy: RunningProxy,
  found: FoundServices,
  output: OutputFormat,
): Promise<number> {
  let last: DifferenceReport | undefined;
  let isIncomplete: boolean | undefined;
  const ask = async () => {
    const report = await compare(proxy, found);
    if (!last) {
      refuseUnknown(report);
      const { unknown } = await found.withUnknown(proxy, report, toldOf(report));
      isIncomplete = complainOf(unknown);
    }
    last = report;
    const { mode, families } = report;
    return {
      items: families.map((family) => ({ mode, ...family })),
      key: ({ family }: WatchedDifference) => family,
      text: (all: readonly WatchedDifference[]) => ({ head: [], rows: all.map(watchedDifferenceLines) }),
    };
  };
  await untilUserEnds(({ signal }) => watch(ask, output, signal, restAfterCostly));
  if (last) refuseUnknown(last);
  return isIncomplete || (last && !isNone(last)) ? 1 : 0;
}

async function compare(proxy: RunningProxy, found: FoundServices): Promise<DifferenceReport> {
  const told = await proxy.ask(`/debug/diff?${found.parameters.toString()}`, differenceAnswer, COMPARISON);
  return linesOf(told, (service, port) => found.hasPort(service, port));
}

function toldOf({ families }: DifferenceReport): readonly ServiceAndPort[] {
  return families.flatMap(({ lines }) => lines.map(({ servicePort = '' }) => parseDisplayName(servicePort)));
}

/** @throws CannotAskError if something is not known */
function refuseUnknown({ families }: DifferenceReport): void {
  const problems = families.flatMap(({ problem }) => problem ?? []);
  if (problems.length > 0) throw new CannotAskError(`the proxy cannot compare: ${problems.join('; ')}`);
}
