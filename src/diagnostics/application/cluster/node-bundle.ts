import { anything, fields, fieldsOf, text, time } from '../../../domain/shape.js';

/** In the order of the queries. `metrics` is text, everything else is an object. */
export const BUNDLE_PARTS = ['status', 'services', 'diff', 'history', 'configz', 'metrics'] as const;

export type BundlePart = (typeof BUNDLE_PARTS)[number];

/** Everything that one proxy says about itself, for those who are to help. */
export type NodeBundle = ReturnType<typeof bundleAnswer>;
export const bundleAnswer = fields({
  /** The name of the Node object. */
  node: text,
  /** Of the program. */
  version: text,
  /** When it was collected. */
  collectedAt: time,
  /** What it answers to each query, by the name of the query; `{"error": …}` where it does not. */
  parts: fieldsOf<Record<BundlePart, unknown>>({
    status: anything,
    services: anything,
    diff: anything,
    history: anything,
    configz: anything,
    metrics: anything,
  }),
});

/** The parts that could not be collected. */
export function missingParts({ parts }: NodeBundle): readonly BundlePart[] {
  return BUNDLE_PARTS.filter((name) => {
    const part = parts[name];
    return part === undefined || (typeof part === 'object' && part !== null && 'error' in part);
  });
}
