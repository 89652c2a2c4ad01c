/** The command `diff`: differences between the kernel and the desired rules of the proxy on this node. */

import type { Asked } from '../options.js';
import { Option } from 'commander';
import {
  namespaceOptions,
  outputOptions,
  servicesIn,
  subcommand,
  watchOption,
  type OutputOptions,
  type WatchOptions,
  type OutputFormat,
} from '../options.js';
import {
  differenceAnswer,
  isNone,
  linesOf,
  type DifferenceReport,
  type FamilyDifference,
} from '../../../application/difference/difference-report.js';
import { parseDisplayName } from '../../../../domain/model/service-port-name.js';
import { formatted, print, inToneOf } from '../output.js';
import { untilUserEnds, restAfterCostly, watch } from '../watch.js';
import { CannotAskError, COMPARISON, RunningProxy } from '../running-proxy.js';
import { findServices, type FoundServices, type ServiceAndPort, reportUnknown } from '../find-services.js';

/** Of what to show the differences, and whether from the rules of a running proxy or from those of a plan. */
export const diffCommand = subcommand({
  name: 'diff',
  description:
    "Compare the kernel's rules with the desired rules: - unexpected, + missing. Queries the proxy running on this node; with --plan or --manifests, works without one.",
  usage: '[NAME...] [flags]',
  options: [
    ...namespaceOptions,
    new Option(
      '--plan',
      'Compare with the rules that a start with these flags would write: - would go, + would come. Needs root. Implied by --manifests; rules of Services that are not in them stay.',
    ),
    watchOption,
    ...outputOptions,
  ],
  request(
    operands,
    { plan = false, ...options }: { readonly plan?: boolean } & OutputOptions & WatchOptions,
  ) {
    return { isPlanned: plan, ...servicesIn('diff', operands, options) };
  },
});

/**
 * Asks the proxy running on this node what the kernel has otherwise than desired, and prints it. 1 when there is anything, or
 * no such Service.
 * @throws CannotAskError also when the proxy does not know
 */
export async function diff({ request, configuration }: Asked<typeof diffCommand>): Promise<number> {
  const { services, output } = request;
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const found = await findServices(proxy, services);
  if (request.watch) return watchDifference(proxy, found, output);
  const report = await compare(proxy, found);
  const answer = await found.withUnknown(proxy, report, reportedPorts(report));
  await print(formatted(output, answer, differenceLines));
  refuseUnknown(report);
  return reportUnknown(answer.unknown) || !isNone(report) ? 1 : 0;
}

/**
 * Prints a family again when its differences change or end. Names that
 * no Service has are reported at the beginning. The exit code is that of the last answer.
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
      const { unknown } = await found.withUnknown(proxy, report, reportedPorts(report));
      isIncomplete = reportUnknown(unknown);
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

function reportedPorts({ families }: DifferenceReport): readonly ServiceAndPort[] {
  return families.flatMap(({ lines }) => lines.map(({ servicePort = '' }) => parseDisplayName(servicePort)));
}

/** @throws CannotAskError if something is not known */
function refuseUnknown({ families }: DifferenceReport): void {
  const problems = families.flatMap(({ problem }) => problem ?? []);
  if (problems.length > 0) throw new CannotAskError(`the proxy cannot compare: ${problems.join('; ')}`);
}

/** Above lines that are not of one service port alone. */
const OF_NO_SERVICE = 'of no single Service';

/** A report for people. No lines if nothing differs. */
export function differenceLines({ mode, families }: DifferenceReport): readonly string[] {
  return families.flatMap((family) => familyLines(mode, family));
}

/** What differs in one family, when people watch. */
type WatchedDifference = Pick<DifferenceReport, 'mode'> & FamilyDifference;

/** There, that nothing differs is news, too. */
function watchedDifferenceLines({ mode, ...difference }: WatchedDifference): readonly string[] {
  const lines = familyLines(mode, difference);
  return lines.length > 0 ? lines : [`${difference.family} (${mode}): no difference`];
}

function familyLines(mode: string, { family, lines, omitted, problem }: FamilyDifference): readonly string[] {
  if (problem !== undefined) return [`${family} (${mode}): not known: ${problem}`];
  if (lines.length === 0) return [];
  const listed = [`${family} (${mode})`];
  let previous: string | undefined;
  for (const { sign, text, servicePort = OF_NO_SERVICE } of lines) {
    if (servicePort !== previous) listed.push(`  ${servicePort}`);
    previous = servicePort;
    listed.push(`    ${inToneOf(sign, `${sign} ${text}`)}`);
  }
  return omitted > 0 ? [...listed, `  and ${omitted} more`] : listed;
}
