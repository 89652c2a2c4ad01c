import type { RuleDifference } from '../../domain/reconcile/rule-difference.js';
import type { DifferenceReport, FamilyDifference } from '../difference/difference-report.js';
import { family } from './node-shapes.js';
import { fields, list, number, oneOf, optional, text } from './shape.js';

/** The answer to `/debug/diff`. */
export const differenceAnswer = fields<DifferenceReport>({
  mode: text,
  families: list(
    fields<FamilyDifference>({
      family,
      lines: list(fields<RuleDifference>({ sign: oneOf('-', '+'), text, servicePort: optional(text) })),
      omitted: number,
      problem: optional(text),
    }),
  ),
});
