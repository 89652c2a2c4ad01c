import { Allocations } from '../../domain/validation/allocations.js';
import { loadManifest } from './objects/load-manifest.js';
import { readManifestFile } from './files/manifest-file.js';
import { ManifestFiles } from './files/manifest-files.js';
import { rejectedText, unreadText } from './problem-text.js';
import { TimeSlice } from './time-slice.js';

/** The findings in manifests. */
export interface ManifestFindings {
  readonly files: number;
  /** Objects that would be used. */
  readonly objects: number;
  /** One line for each problem: `file:line: kind namespace/name: field: what`. */
  readonly problems: readonly string[];
}

/**
 * Reads the manifests as a proxy would, and reports what it would ignore.
 * @param shown how a file is named in problems
 * @throws ManifestPathError
 */
export async function validateManifests(
  paths: readonly string[],
  shown: (file: string) => string = (file) => file,
): Promise<ManifestFindings> {
  const slice = new TimeSlice();
  const allocations = new Allocations();
  const { files, unlisted } = ManifestFiles.open(paths).list();
  const problems = unlisted.map(({ path, problem }) => `${shown(path)}: ${problem}`);
  let objects = 0;
  for (const file of files) {
    try {
      const contents = await loadManifest(await readManifestFile(file), slice, allocations);
      objects += contents.objects.length;
      problems.push(...contents.rejected.map((object) => rejectedText(shown(file), object)));
    } catch (error) {
      problems.push(unreadText(shown(file), error as Error));
    }
  }
  return { files: files.length, objects, problems };
}
