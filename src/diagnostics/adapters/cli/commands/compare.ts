/** The command `compare`: its options and its text. `src/diagnostics/bootstrap/compare.ts` runs it. */

import { Option } from 'commander';
import { SIDE_MODES, type SideMode } from '../../../domain/compare/side.js';
import { ComparisonError } from '../../../domain/compare/side.js';
import { UsageError, rejectOperands } from '../../../../adapters/cli/usage-error.js';
import {
  expectOption,
  refuseUnknownDifferences,
  outputOptions,
  positiveNumber,
  subcommand,
  type OutputFormat,
} from '../options.js';
import { inToneOf } from '../output.js';
import type {
  ComparisonResult,
  FamilyReport,
  ReportedDifference,
  ReportedUnknown,
} from '../../../application/comparison-report.js';
import { destinationText } from '../../../application/comparison-report.js';
import type { NodeRules } from '../../../domain/compare/node-rules.js';
import { counted } from '../../../../application/words.js';
import type { Step } from '../../../domain/trace/trace.js';

/** The mode of a plan; undefined: as configured. */
export type PlannedMode = SideMode | undefined;

/** What to compare. */
export type ComparedSide =
  | { readonly kind: 'kernel' }
  | { readonly kind: 'plan'; readonly mode: PlannedMode }
  | { readonly kind: 'dump'; readonly paths: readonly string[] };

/** One or two: of the kernel alone, only the rules that it has are listed. */
type ComparedSides = readonly [ComparedSide, ComparedSide] | readonly [{ readonly kind: 'kernel' }];

interface CompareOptions {
  readonly kernel?: boolean;
  readonly proxiesOnly?: boolean;
  readonly limit?: number;
  readonly plan?: readonly (string | true)[] | true;
  readonly dump?: readonly string[];
  readonly expect?: readonly string[];
  readonly output: OutputFormat;
}

export const compareCommand = subcommand({
  name: 'compare',
  group: 'Without a proxy:',
  description:
    'Compare the effect of two sets of rules on all packets to Services: rules of the kernel, of plans or of saved dumps. With --kernel alone, list the rules of any service proxy on this node.',
  summary: 'Compare the effect of two sets of rules on packets.',
  usage: '--kernel|--plan|--dump --kernel|--plan|--dump [flags]',
  options: [
    new Option('--kernel', 'The rules of the kernel. Needs root.'),
    new Option('--proxies-only', 'Ignore rules of the kernel that belong to no service proxy.'),
    new Option(
      '--plan [mode]',
      `The rules of this program in a mode: ${SIDE_MODES.join(', ')}; by default the configured one.`,
    ).argParser((mode: string, former: CompareOptions['plan']) => [...plansOf(former), mode]),
    new Option(
      '--dump <files>',
      'The output of iptables-save, ip6tables-save, nft, ipvsadm -S -n and ipset save, separated by commas.',
    ).argParser((paths: string, former: readonly string[] = []) => [...former, paths]),
    expectOption('Known differences to accept, by name; docs/install/comparing.md lists them. Repeatable.'),
    new Option('--limit <number>', 'How many differences to list.').argParser(positiveNumber),
    ...outputOptions,
  ],
  request(operands, options: CompareOptions) {
    const { kernel = false, plan, dump = [], expect = [], proxiesOnly = false, limit, output } = options;
    rejectOperands(operands, 'kubeproxy compare');
    const sides: readonly ComparedSide[] = [
      ...(kernel ? [{ kind: 'kernel' } as const] : []),
      ...dump.map((paths) => ({ kind: 'dump', paths: paths.split(',') }) as const),
      ...plansOf(plan).map((mode) => ({ kind: 'plan', mode: modeOf(mode) }) as const),
    ];
    refuseUnknownDifferences(expect);
    return { sides: comparedSides(sides), expected: expect, proxiesOnly, limit, output };
  },
});

function comparedSides([one, other, ...more]: readonly ComparedSide[]): ComparedSides {
  if (one?.kind === 'kernel' && !other) return [one];
  if (one && other && more.length === 0) return [one, other];
  throw new UsageError(
    'compare takes two of --kernel, --plan [MODE] and --dump FILE[,FILE...], or --kernel alone',
  );
}

function plansOf(plan: CompareOptions['plan']): readonly (string | true)[] {
  return plan === undefined ? [] : plan === true ? [true] : plan;
}

function modeOf(mode: string | true): PlannedMode {
  if (mode === true) return undefined;
  const known = SIDE_MODES.find((each) => each === mode);
  if (known) return known;
  if (mode === 'userspace') throw ComparisonError.userspace('the plan of userspace mode');
  throw new UsageError(`--plan takes ${SIDE_MODES.join(', ')} or nothing, not ${JSON.stringify(mode)}`);
}

/** What is printed: of the kernel alone, only its rules. */
type Printed = ComparisonResult | Pick<ComparisonResult, 'nodeRules'>;

/** Of a Service, as many differences are shown. */
const SHOWN = 5;
/** Of what is not understood. */
const UNKNOWN_SHOWN = 10;

/** For people. @param isWide everything, with the way of each packet */
export function comparisonLines(result: Printed, isWide: boolean): readonly string[] {
  const lines = result.nodeRules ? nodeLines(result.nodeRules) : [];
  if (!('sides' in result)) return lines;
  const { sides, families, localAddresses, notes, obstacle } = result;
  return [
    ...lines,
    ...(obstacle === undefined ? [] : [`the planned mode cannot run here: ${obstacle}`]),
    ...families.flatMap((report) => familyLines(report, sides, isWide)),
    `note: the node's own addresses are taken to be ${localAddresses.join(', ')}`,
    ...notes.map((note) => `note: ${note}`),
  ];
}

function nodeLines({ kernel, iptables, rules, schedulers, unread }: NodeRules): readonly string[] {
  return [
    `kernel:   ${kernel}`,
    `iptables: ${iptables}`,
    ...rules.map(({ place, family, count }) => `rules:    ${place} (${family}): ${count}`),
    ...(rules.length === 0 ? ['rules:    none'] : []),
    ...(schedulers.length > 0 ? [`schedulers in use: ${schedulers.join(', ')}`] : []),
    ...unread,
  ];
}

function familyLines(report: FamilyReport, sides: readonly string[], isWide: boolean): readonly string[] {
  const {
    family,
    modes,
    equalClasses,
    differentClasses,
    unknownClasses,
    knownDifferences,
    differences,
    omitted,
    unknowns,
  } = report;
  const [one, other] = [`${sides[0]} (${modes[0]})`, `${sides[1]} (${modes[1]})`];
  const services = new Map<string, ReportedDifference[]>();
  // A known difference is the same for many Services.
  for (const difference of differences.filter(({ knownDifference: name }) => isWide || name === undefined))
    services.set(difference.service, [...(services.get(difference.service) ?? []), difference]);
  const shown = isWide ? unknowns : unknowns.slice(0, UNKNOWN_SHOWN);
  return [
    `${family}: ${one} and ${other}: ${counted(equalClasses, 'class', 'classes')} of packets equal, ${countOf(differentClasses, 'different')}, ${countOf(unknownClasses, 'unknown')}`,
    ...knownDifferences.flatMap(({ name, sentence, link, classes, expected }) => [
      `  known difference ${name}${expected ? ', expected' : ''}: ${sentence} (${counted(classes, 'class', 'classes')}; ${link})`,
      ...(isWide || expected
        ? []
        : differenceLines(
            differences.find((each) => each.knownDifference === name)!,
            [one, other],
            false,
          )),
    ]),
    ...[...services].flatMap(([service, its]) => serviceLines(service, its, [one, other], isWide)),
    ...(omitted > 0 ? [`  … ${counted(omitted, 'class', 'classes')} more that differ, not listed`] : []),
    ...shown.map(unknownLine),
    ...(unknowns.length > shown.length
      ? [`  … ${unknowns.length - shown.length} more unsupported rules; -o wide shows all`]
      : []),
  ];
}

function countOf(count: number, what: string): string {
  const text = `${count} ${what}`;
  return count > 0 ? inToneOf(what, text) : text;
}

function serviceLines(
  service: string,
  differences: readonly ReportedDifference[],
  sides: readonly string[],
  isWide: boolean,
): readonly string[] {
  const shown = isWide ? differences : differences.slice(0, SHOWN);
  const left = differences.length - shown.length;
  return [
    `  ${service}`,
    ...shown.flatMap((difference) => differenceLines(difference, sides, isWide)),
    ...(left > 0 ? [`    … ${left} more; -o wide shows all`] : []),
  ];
}

function differenceLines(
  difference: ReportedDifference,
  sides: readonly string[],
  isWide: boolean,
): readonly string[] {
  const { outcomes, paths, knownDifference } = difference;
  const name = knownDifference === undefined ? '' : ` [${knownDifference}]`;
  return [
    `    ${packetWords(difference)}${name}`,
    ...sides.flatMap((side, at) => [
      `      ${side}: ${outcomes[at]!}`,
      ...(isWide ? paths[at]!.map(stepLine) : []),
    ]),
  ];
}

/** Who sends it where. */
export function packetWords(difference: ReportedDifference): string {
  const { packet, otherPorts, sender: client, remembered, classes } = difference;
  const again = remembered === undefined ? '' : `, again after it was sent to ${remembered}`;
  const more = classes > 1 ? `, and ${counted(classes - 1, 'other class', 'other classes')} of clients` : '';
  const port = otherPorts ? ', as to every port that no rule names' : '';
  return `${client} → ${destinationText(packet)}${port}${again}${more}`;
}

function stepLine({ hook, where, rule, effect }: Step): string {
  return `        ${hook}: ${where}: ${rule === '' ? '' : `${rule} `}→ ${effect}`;
}

function unknownLine({ rule, packet, classes }: ReportedUnknown): string {
  const example = packet
    ? ` (${counted(classes, 'class', 'classes')}, such as ${packet.source} → ${destinationText(packet)})`
    : '';
  return `  not understood: ${rule}${example}`;
}
