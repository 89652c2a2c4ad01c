import { ManifestLines } from '../parsing/manifest-lines.js';
import { ManifestObjects, type ManifestIssue, type ManifestObject } from './manifest-objects.js';
import { parseManifest } from '../parsing/manifest-text.js';
import type { Turns } from '../turns.js';

/** An object that cannot be used. */
export interface LeftOut extends Pick<ManifestIssue, 'key' | 'subject' | 'problem'> {
  /** The line of the file, from 1; undefined where it cannot be found in reasonable time. */
  readonly line: number | undefined;
}

/** What a manifest says. */
export interface ManifestContents {
  /** In the order of the file. */
  readonly objects: readonly ManifestObject[];
  readonly leftOut: readonly LeftOut[];
  /** How often each kind occurs that the proxy does not read. */
  readonly ignored: ReadonlyMap<string, number>;
}

/**
 * Reads the text of a manifest, in turns with other work.
 * @throws ManifestSyntaxError
 */
export async function loadManifest(text: string, turns: Turns): Promise<ManifestContents> {
  const found = new ManifestObjects();
  for (const values of parseManifest(text)) {
    await turns.next();
    for (const value of values) for (const _ of found.add(value)) if (turns.due) await turns.next();
  }
  return { objects: found.objects, leftOut: await located(found.issues, turns), ignored: found.ignored };
}

async function located(issues: readonly ManifestIssue[], turns: Turns): Promise<readonly LeftOut[]> {
  const leftOut: LeftOut[] = [];
  let last: { readonly stretch: object; readonly lines: ManifestLines } | undefined;
  for (const { key, subject, problem, place, field } of issues) {
    const { stretch } = place;
    if (last?.stretch !== stretch) last = { stretch, lines: new ManifestLines(stretch) };
    const line = last.lines.lineOf([...place.path, ...field]);
    leftOut.push({ ...(key !== undefined && { key }), subject, problem, line });
    await turns.next();
  }
  return leftOut;
}
