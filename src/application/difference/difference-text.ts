import type { DifferenceReport, FamilyDifference } from './difference-report.js';

/** What lines are about that no service port owns. */
const OF_NODE = 'the node, or nobody known';

/** A report for people, several lines, each with its end. Empty if nothing differs. */
export function differenceText({ mode, families }: DifferenceReport): string {
  return families
    .flatMap((family) => familyLines(mode, family))
    .map((line) => `${line}\n`)
    .join('');
}

function familyLines(mode: string, { family, lines, omitted, problem }: FamilyDifference): readonly string[] {
  if (problem !== undefined) return [`${family} (${mode}): not known: ${problem}`];
  if (lines.length === 0) return [];
  const listed = [`${family} (${mode})`];
  let former: string | undefined;
  for (const { sign, text, servicePort = OF_NODE } of lines) {
    if (servicePort !== former) listed.push(`  ${servicePort}`);
    former = servicePort;
    listed.push(`    ${sign} ${text}`);
  }
  return omitted > 0 ? [...listed, `  and ${omitted} more`] : listed;
}
