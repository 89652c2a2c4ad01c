import { loadManifest } from './objects/load-manifest.js';
import { ManifestSyntaxError } from './manifest-errors.js';
import { readManifestFile } from './files/manifest-file.js';
import { ManifestFiles } from './files/manifest-files.js';
import { leftOutText, syntaxText, unreadText } from './problem-text.js';
import { Turns } from './turns.js';

/** What was found in manifests. */
export interface ManifestFindings {
  readonly files: number;
  /** Objects that would be used. */
  readonly objects: number;
  /** One line for each thing that is wrong: `file:line: kind namespace/name: field: what`. */
  readonly problems: readonly string[];
}

/**
 * Reads what a proxy would read that serves from these paths, and finds what it would leave out.
 * @param shown how a file is named in problems
 * @throws ManifestPathError
 */
export async function validateManifests(
  paths: readonly string[],
  shown: (file: string) => string = (file) => file,
): Promise<ManifestFindings> {
  const turns = new Turns();
  const { files, unlisted } = ManifestFiles.open(paths).list();
  const problems = unlisted.map(({ path, problem }) => `${shown(path)}: ${problem}`);
  let objects = 0;
  for (const file of files) {
    try {
      const contents = await loadManifest(await readManifestFile(file), turns);
      objects += contents.objects.length;
      problems.push(...contents.leftOut.map((object) => leftOutText(shown(file), object)));
    } catch (error) {
      const syntax = error instanceof ManifestSyntaxError;
      problems.push(syntax ? syntaxText(shown(file), error) : unreadText(shown(file), error as Error));
    }
  }
  return { files: files.length, objects, problems };
}
