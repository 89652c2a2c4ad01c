import { inToneOf } from '../output/tones.js';
import type {
  FamilyReport,
  ReportedDifference,
  ReportedUnknown,
} from '../../../application/compare/comparison-report.js';
import { destinationText, type Destination } from '../../../application/compare/fate-words.js';
import type { NodeRules } from '../../../domain/compare/node-rules.js';
import { counted } from '../../../../application/words/counted.js';
import type { Step } from '../../../domain/trace/trace.js';

/** Everything that was compared. */
export interface ComparisonResult {
  /** The rules that service proxies have left on this node; only if the kernel is a side. */
  readonly node?: NodeRules;
  /** Why the planned mode cannot run on this node. */
  readonly obstacle?: string;
  /** What the sides are, for people. */
  readonly sides: readonly [string, string];
  readonly families: readonly FamilyReport[];
  /** The addresses that the node is assumed to have. */
  readonly localAddresses: readonly string[];
  /** What is left out; for people. */
  readonly notes: readonly string[];
  /** Objects that are not in a plan, and why. */
  readonly problems: readonly string[];
}

/** What is printed: of the kernel alone, only its rules. */
type Printed = ComparisonResult | Pick<ComparisonResult, 'node'>;

/** Of a Service, as many differences are shown. */
const SHOWN = 5;
/** Of what is not understood. */
const UNKNOWN_SHOWN = 10;

/** For people. @param isWide everything, with the way of each packet */
export function comparisonLines(result: Printed, isWide: boolean): readonly string[] {
  const lines = result.node ? nodeLines(result.node) : [];
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

function nodeLines({ kernel, iptables, rules, schedulers, unseen }: NodeRules): readonly string[] {
  return [
    `kernel:   ${kernel}`,
    `iptables: ${iptables}`,
    ...rules.map(({ place, family, count }) => `rules:    ${place} (${family}): ${count}`),
    ...(rules.length === 0 ? ['rules:    none'] : []),
    ...(schedulers.length > 0 ? [`schedulers in use: ${schedulers.join(', ')}`] : []),
    ...unseen,
  ];
}

function familyLines(
  report: FamilyReport,
  sides: readonly [string, string],
  isWide: boolean,
): readonly string[] {
  const { family, modes, equal, different, unknown, known, differences, unlisted, unknowns } = report;
  const [one, other] = [`${sides[0]} (${modes[0]})`, `${sides[1]} (${modes[1]})`];
  const services = new Map<string, ReportedDifference[]>();
  // A known difference is the same for many Services.
  for (const difference of differences.filter(({ known: name }) => isWide || name === undefined))
    services.set(difference.service, [...(services.get(difference.service) ?? []), difference]);
  const shown = isWide ? unknowns : unknowns.slice(0, UNKNOWN_SHOWN);
  return [
    `${family}: ${one} and ${other}: ${counted(equal, 'class', 'classes')} of packets equal, ${countOf(different, 'different')}, ${countOf(unknown, 'unknown')}`,
    ...known.flatMap(({ name, sentence, link, classes, isExpected }) => [
      `  known difference ${name}${isExpected ? ', expected' : ''}: ${sentence} (${counted(classes, 'class', 'classes')}; ${link})`,
      ...(isWide || isExpected
        ? []
        : differenceLines(
            differences.find((each) => each.known === name)!,
            [one, other],
            false,
          )),
    ]),
    ...[...services].flatMap(([service, its]) => serviceLines(service, its, [one, other], isWide)),
    ...(unlisted > 0 ? [`  … ${counted(unlisted, 'class', 'classes')} more that differ, not listed`] : []),
    ...shown.map(unknownLine),
    ...(unknowns.length > shown.length
      ? [`  … ${unknowns.length - shown.length} more that are not understood; -o wide shows all`]
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
  sides: readonly [string, string],
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
  sides: readonly [string, string],
  isWide: boolean,
): readonly string[] {
  const { outcomes, steps, known } = difference;
  const name = known === undefined ? '' : ` [${known}]`;
  return [
    `    ${packetWords(difference)}${name}`,
    ...sides.flatMap((side, at) => [
      `      ${side}: ${outcomes[at]!}`,
      ...(isWide ? steps[at]!.map(stepLine) : []),
    ]),
  ];
}

/** Who sends it where. */
export function packetWords({
  packet,
  otherPorts,
  client,
  remembered,
  classes,
}: Omit<ReportedDifference, 'packet' | 'outcomes' | 'steps' | 'service'> & {
  readonly packet: Destination;
}): string {
  const again = remembered === undefined ? '' : `, again after it was sent to ${remembered}`;
  const more = classes > 1 ? `, and ${counted(classes - 1, 'other class', 'other classes')} of clients` : '';
  const port = otherPorts ? ', as to every port that no rule names' : '';
  return `${client} → ${destinationText(packet)}${port}${again}${more}`;
}

function stepLine({ hook, where, rule, effect }: Step): string {
  return `        ${hook}: ${where}: ${rule === '' ? '' : `${rule} `}→ ${effect}`;
}

function unknownLine({ what, packet, classes }: ReportedUnknown): string {
  const example = packet
    ? ` (${counted(classes, 'class', 'classes')}, such as ${packet.source} → ${destinationText(packet)})`
    : '';
  return `  not understood: ${what}${example}`;
}
