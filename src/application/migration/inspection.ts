import type { SideMode } from '../../domain/compare/side.js';
import { nodeFacts } from '../../domain/migration/node-facts.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { fields, list, number, optional, text, word } from '../../domain/shapes/shape.js';
import type { FamilyReport } from '../compare/comparison-report.js';

/** What would be done otherwise with packets to one Service. */
export type InspectedDifference = ReturnType<typeof inspectedDifference>;
const inspectedDifference = fields({
  /** `namespace/name`, or an address where no rule names a Service. */
  service: text,
  /** Who sends what to where; for people. */
  packet: text,
  /** What becomes of it now, and then. */
  now: text,
  then: text,
});

export type InspectedFamily = ReturnType<typeof inspectedFamily>;
const inspectedFamily = fields({
  family: word<IpFamily>(),
  /** Of the kernel's rules. */
  mode: word<SideMode>(),
  /** Classes of packets. */
  equal: number,
  different: number,
  unknown: number,
  known: list(fields({ name: text, sentence: text, classes: number })),
  differences: list(inspectedDifference),
  /** Differences beyond those. */
  omitted: number,
  /** What is not understood. */
  unknowns: list(text),
});

/** A node's kernel, compared with what this program would write there in the mode that was asked about. */
export type InspectedComparison = ReturnType<typeof inspectedComparison>;
const inspectedComparison = fields({
  families: list(inspectedFamily),
  notes: list(text),
  /** Objects that are not in the plan, and why. */
  problems: list(text),
  /** IPVS schedulers that Services ask for. */
  schedulers: list(text),
});

/** What `kubeproxy inspect -o json` says of a node. */
export type Inspection = ReturnType<typeof inspection>;
export const inspection = fields({
  facts: nodeFacts,
  comparison: optional(inspectedComparison),
});

/** Differences that are told of a family, as a node's answer is read whole. */
const KEPT = 200;

/** What is kept of a report: known differences as counts, and of others the words. */
export function inspectedReport(report: FamilyReport, packetWords: PacketWords): InspectedFamily {
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

/** Who sends a packet where, for people. */
type PacketWords = (difference: FamilyReport['differences'][number]) => string;
