import type { SideMode } from '../compare/side.js';
import type { IpFamily } from '../net/ip-family.js';
import { fields, list, number, optional, text, word } from '../shapes/shape.js';
import { nodeFacts } from './node-facts.js';

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
