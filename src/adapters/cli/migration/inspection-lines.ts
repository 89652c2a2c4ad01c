import type { InspectedFamily, Inspection } from '../../../domain/migration/inspection.js';
import { counted } from '../../../application/words/counted.js';
import type { NodeFacts } from '../../../domain/migration/node-facts.js';

/** Of a Service, as many differences are shown. */
const SHOWN = 5;

/** For people. @param isWide all differences */
export function inspectionLines({ facts, comparison }: Inspection, isWide: boolean): readonly string[] {
  return [
    ...factLines(facts),
    ...(comparison?.families ?? []).flatMap((family) => familyLines(family, isWide)),
    ...(comparison?.problems ?? []).map((problem) => `ignored: ${problem}`),
    ...(comparison?.notes ?? []).map((note) => `note: ${note}`),
  ];
}

function factLines({ kernel, iptables, rules, schedulers, unseen, obstacle }: NodeFacts): readonly string[] {
  return [
    `kernel:   ${kernel}`,
    `iptables: ${iptables}`,
    ...rules.map(({ place, family, count }) => `rules:    ${place} (${family}): ${count}`),
    ...(schedulers.length > 0 ? [`schedulers in use: ${schedulers.join(', ')}`] : []),
    ...unseen,
    ...(obstacle === undefined ? [] : [`cannot run here: ${obstacle}`]),
  ];
}

function familyLines(family: InspectedFamily, isWide: boolean): readonly string[] {
  const { differences, omitted, known, unknowns } = family;
  const shown = isWide ? differences : differences.slice(0, SHOWN);
  const left = differences.length - shown.length + omitted;
  return [
    `${family.family}: now ${family.mode}: ${counted(family.equal, 'class', 'classes')} of packets equal, ${family.different} different, ${family.unknown} unknown`,
    ...known.map(
      ({ name, sentence, classes }) =>
        `  known difference ${name}: ${sentence} (${counted(classes, 'class', 'classes')})`,
    ),
    ...shown.flatMap(({ service, packet, now, then }) => [
      `  ${service}: ${packet}`,
      `    now:  ${now}`,
      `    then: ${then}`,
    ]),
    ...(left > 0 ? [`  … ${left} more`] : []),
    ...(isWide ? unknowns : unknowns.slice(0, SHOWN)).map((what) => `  not understood: ${what}`),
  ];
}
