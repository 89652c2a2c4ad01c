import { relative } from 'node:path';
import { validateManifests } from '../manifests/validate-manifests.js';
import { printable } from '../process/quote.js';
import { counted } from '../../application/words/counted.js';
import type { Asked } from './arguments/subcommands.js';
import { linesText } from './output/formatted.js';
import { print } from './output/print.js';

/** Reports what in the manifests would be ignored, one line each: 1 when there is anything, otherwise 0. Changes nothing. */
export async function validate({ manifests }: Asked<'validate'>): Promise<number> {
  const { files, objects, problems } = await validateManifests(manifests, shownPath);
  const lines =
    problems.length === 0
      ? [`valid: ${counted(objects, 'object')} in ${counted(files, 'file')}`]
      : problems.map(printable);
  await print(linesText(lines));
  return problems.length === 0 ? 0 : 1;
}

/** As seen from the current folder, where it is inside. */
function shownPath(file: string): string {
  const inside = relative(process.cwd(), file);
  return inside.startsWith('..') ? file : inside;
}
