import type { InspectedFamily } from '../../domain/migration/inspection.js';
import type { FamilyReport, ReportedDifference } from '../compare/comparison-report.js';

/** Differences that are told of a family, as a node's answer is read whole. */
const KEPT = 200;

/**
 * What is kept of a report: known differences as counts, and of others the words.
 * @param packetWords who sends a packet where
 */
export function inspectedReport(
  report: FamilyReport,
  packetWords: (difference: ReportedDifference) => string,
): InspectedFamily {
  const { family, modes, equal, different, unknown, known, differences, unknowns } = report;
  return {
    family,
    mode: modes[0],
    equal,
    different,
    unknown,
    known: known.map(({ name, sentence, classes }) => ({ name, sentence, classes })),
    differences: differences.slice(0, KEPT).map((difference) => ({
      service: difference.service,
      packet: packetWords(difference),
      now: difference.outcomes[0],
      then: difference.outcomes[1],
    })),
    omitted: Math.max(0, differences.length - KEPT),
    unknowns: unknowns.slice(0, KEPT).map(({ what }) => what),
  };
}
