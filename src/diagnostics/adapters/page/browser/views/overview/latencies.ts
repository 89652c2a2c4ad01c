import type { ChangeEntry, ServicePortChange } from '../../../../../../application/status/change-entry.js';

/** Seconds of a chart. */
const LEAST_SHOWN = 10;

/** How long the remembered changes took from their event to the kernel, in a few numbers. Milliseconds. */
export interface LatencySummary {
  readonly count: number;
  readonly median: number;
  /** 99 of 100 changes took no longer. */
  readonly nearlyAll: number;
  readonly slowest: ServicePortChange;
}

/** The changes that reached the kernel, the oldest first. */
export function programmedChanges(changes: readonly ChangeEntry[]): readonly ServicePortChange[] {
  return changes.filter(
    (change): change is ServicePortChange => change.what === 'service-port' && change.result !== 'failed',
  );
}

/** Undefined without changes. */
export function summary(changes: readonly ServicePortChange[]): LatencySummary | undefined {
  if (changes.length === 0) return undefined;
  const sorted = [...changes].sort((a, b) => a.took - b.took);
  const at = (share: number): ServicePortChange => sorted[Math.ceil(share * sorted.length) - 1]!;
  return {
    count: sorted.length,
    median: at(0.5).took,
    nearlyAll: at(0.99).took,
    slowest: at(1),
  };
}

/** What a chart shows that has changes from the first to the last: it ends now. Seconds; now in milliseconds. */
export function timesShown(first: number, last: number, now: number): [from: number, to: number] {
  const to = Math.max(last, now / 1_000);
  return [Math.min(first, to - LEAST_SHOWN), to];
}
