import { inToneOf } from '../output/tones.js';
import type {
  DifferenceReport,
  FamilyDifference,
} from '../../../application/difference/difference-report.js';

/** Above lines that are not of one service port alone. */
const OF_NO_SERVICE = 'of no single Service';

/** A report for people. No lines if nothing differs. */
export function differenceLines({ mode, families }: DifferenceReport): readonly string[] {
  return families.flatMap((family) => familyLines(mode, family));
}

/** What differs in one family, when people watch. */
export type WatchedDifference = Pick<DifferenceReport, 'mode'> & FamilyDifference;

/** There, that nothing differs is news, too. */
export function watchedDifferenceLines({ mode, ...difference }: WatchedDifference): readonly string[] {
  const lines = familyLines(mode, difference);
  return lines.length > 0 ? lines : [`${difference.family} (${mode}): no difference`];
}

function familyLines(mode: string, { family, lines, omitted, problem }: FamilyDifference): readonly string[] {
  if (problem !== undefined) return [`${family} (${mode}): not known: ${problem}`];
  if (lines.length === 0) return [];
  const listed = [`${family} (${mode})`];
  let former: string | undefined;
  for (const { sign, text, servicePort = OF_NO_SERVICE } of lines) {
    if (servicePort !== former) listed.push(`  ${servicePort}`);
    former = servicePort;
    listed.push(`    ${inToneOf(sign, `${sign} ${text}`)}`);
  }
  return omitted > 0 ? [...listed, `  and ${omitted} more`] : listed;
}
