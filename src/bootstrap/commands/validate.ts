import { relative } from 'node:path';
import { validateManifests } from '../../adapters/manifests/validate-manifests.js';
import type { CommandLine } from '../configuration/command-line.js';

/** Reports what in the manifests would be ignored, one line each: 1 when there is anything, otherwise 0. Changes nothing. */
export async function validate({ manifests }: CommandLine): Promise<number> {
  const { files, objects, problems } = await validateManifests(manifests, shownPath);
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  if (problems.length === 0) process.stdout.write(`valid: ${objects} objects in ${files} files\n`);
  return problems.length === 0 ? 0 : 1;
}

/** As seen from the current folder, where it is inside. */
function shownPath(file: string): string {
  const inside = relative(process.cwd(), file);
  return inside.startsWith('..') ? file : inside;
}
