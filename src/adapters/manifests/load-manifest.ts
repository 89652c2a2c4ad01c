import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Allocations } from '../../domain/validation/allocations.js';
import { ManifestLines, type ManifestPlace } from './manifest-chunks.js';
import { ManifestObjects, type ManifestIssue, type ManifestObject } from './manifest-objects.js';
import { parseManifest } from './manifest-text.js';

/** What is wrong with an object, and where. */
export interface RejectedObject extends Pick<ManifestIssue, 'key' | 'subject' | 'problem'> {
  /** The line of the file, from 1; undefined if finding it would take too long. */
  readonly line: number | undefined;
}

/** The contents of a manifest. */
export interface ManifestContents {
  /** In the order of the file. */
  readonly objects: readonly ManifestObject[];
  readonly rejected: readonly RejectedObject[];
  /** What objects that are used ask for, and do not get; looked for with allocations. */
  readonly doubts: readonly RejectedObject[];
  /** Where each object is, by its key; none without allocations, since these hold the text. */
  readonly places: ReadonlyMap<string, ManifestPlace>;
  /** Kinds that the proxy does not read, with the number of their objects. */
  readonly ignored: ReadonlyMap<string, number>;
}

/**
 * Reads the text of a manifest, yielding to the event loop from time to time.
 * @param allocations with it, what two Services claim is a problem of the second
 * @throws ManifestSyntaxError
 */
export async function loadManifest(
  text: string,
  slice: TimeSlice,
  allocations?: Allocations,
): Promise<ManifestContents> {
  const found = new ManifestObjects(allocations);
  for (const values of parseManifest(text)) {
    await slice.yieldIfOver();
    for (const value of values) for (const _ of found.add(value)) if (slice.isOver) await slice.yieldIfOver();
  }
  return {
    objects: found.objects,
    rejected: await located(found.issues, slice),
    doubts: await located(found.doubts, slice),
    places: allocations ? found.places : new Map(),
    ignored: found.ignored,
  };
}

/** The issues, each with its line. */
export async function located(
  issues: readonly ManifestIssue[],
  slice: TimeSlice,
): Promise<readonly RejectedObject[]> {
  const rejected: RejectedObject[] = [];
  let last: { readonly chunk: object; readonly lines: ManifestLines } | undefined;
  for (const { key, subject, problem, place, field } of issues) {
    const { chunk } = place;
    if (last?.chunk !== chunk) last = { chunk, lines: new ManifestLines(chunk) };
    const line = last.lines.lineOf([...place.path, ...field]);
    rejected.push({ ...(key !== undefined && { key }), subject, problem, line });
    await slice.yieldIfOver();
  }
  return rejected;
}

/** Milliseconds of work between two turns of the event loop. */
const LENGTH = 10;

/** Lets the event loop run after each slice of a long work. */
export class TimeSlice {
  private startedAt = performance.now();

  /** Whether the event loop has waited long enough. */
  get isOver(): boolean {
    return performance.now() - this.startedAt >= LENGTH;
  }

  /** Called between two pieces of work. Waits only when the slice is over. */
  async yieldIfOver(): Promise<void> {
    if (!this.isOver) return;
    await yieldToEventLoop();
    this.startedAt = performance.now();
  }
}
