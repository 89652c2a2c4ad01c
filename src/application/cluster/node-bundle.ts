/** Everything that one proxy says about itself, for those who are to help. */
export interface NodeBundle {
  /** The name of the Node object. */
  readonly node: string;
  /** Of the program. */
  readonly version: string;
  /** When it was collected, milliseconds since the epoch. */
  readonly collectedAt: number;
  /** What it answers to each question, by the name of the question; `{"error": …}` where it does not. */
  readonly parts: Readonly<Record<BundlePart, unknown>>;
}

/** In the order in which they are asked. `metrics` is text, everything else is an object. */
export const BUNDLE_PARTS = ['status', 'services', 'diff', 'history', 'configz', 'metrics'] as const;

export type BundlePart = (typeof BUNDLE_PARTS)[number];

/** The parts that could not be collected. */
export function missingParts({ parts }: NodeBundle): readonly BundlePart[] {
  return BUNDLE_PARTS.filter((name) => {
    const part = parts[name];
    return part === undefined || (typeof part === 'object' && part !== null && 'error' in part);
  });
}
