/** The command `diff`: differences between the kernel and the desired rules of the proxy on this node. */

import { exitCodeOf } from '../../../../adapters/cli/exit-code.js';
import type { Invocation } from '../options.js';
import { Option } from 'commander';
import {
  outputOptions,
  servicesIn,
  subcommand,
  watchOption,
  type OutputOptions,
  type WatchOptions,
} from '../options.js';
import {
  differenceAnswer,
  isNone,
  linesOf,
  type DifferenceReport,
  type FamilyDifference,
} from '../../../application/difference/difference-report.js';
import { parseDisplayName } from '../../../../domain/model/service-port-name.js';
import type { AboutUnknown } from '../../../application/status/service-row.js';
import { inToneOf } from '../output.js';
import { restAfterCostly, show } from '../watch.js';
import { COMPARISON, RunningProxy } from '../running-proxy.js';
import { findServices, type ServiceAndPort } from '../find-services.js';

/** Of what to show the differences, and whether from the rules of a running proxy or from those of a plan. */
export const diffCommand = subcommand({
  name: 'diff',
  description:
    "Compare the kernel's rules with the desired rules: - unexpected, + missing. Queries the proxy running on this node; with --plan or --manifests, works without one.",
  summary: "Compare the kernel's and the desired rules.",
  usage: '[NAME...] [flags]',
  options: [
    new Option('-n, --namespace <namespace>', 'The namespace of names without one.'),
    new Option('-A, --all-namespaces', 'Services of all namespaces, as without -n.').conflicts('namespace'),
    new Option(
      '--plan',
      'Compare with the planned rules of a start with these flags: - removed, + added. Needs root. Implied by --manifests; rules of other Services stay.',
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
 * Shows how the kernel's rules differ from the desired rules of the proxy running on this node. With `-w` a family is printed again
 * when its differences change or end. 1 when there are any, the proxy cannot compare, or there is no such Service.
 */
export async function diff({ request, configuration }: Invocation<typeof diffCommand>): Promise<number> {
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const found = await findServices(proxy, request.services);
  const query = async (): Promise<DifferenceReport & AboutUnknown> => {
    const path = `/debug/diff?${found.parameters.toString()}`;
    const all = await proxy.query(path, differenceAnswer, COMPARISON);
    const report = linesOf(all, (service, port) => found.hasPort(service, port));
    return found.isAll ? report : { ...report, unknownNames: found.unknownBut(reportedPorts(report)) };
  };
  return show<DifferenceReport & AboutUnknown, WatchedDifference>(request, query, {
    lines: differenceLines,
    exitCode: (report) => exitCodeOf(!isNone(report)),
    watched: ({ mode, families }) => ({
      items: families.map((family) => ({ mode, ...family })),
      key: ({ family }) => family,
      text: (all) => ({ head: [], rows: all.map(watchedDifferenceLines) }),
    }),
    rest: restAfterCostly,
  });
}

function reportedPorts({ families }: DifferenceReport): readonly ServiceAndPort[] {
  return families.flatMap(({ lines }) => lines.map(({ servicePort = '' }) => parseDisplayName(servicePort)));
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
