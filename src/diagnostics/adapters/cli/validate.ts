import { relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { counted } from '../../../application/words/counted.js';
import { validateManifests, type ManifestFinding, type ManifestFindings } from './validate-manifests.js';
import type { Asked } from './command-line/subcommands.js';
import { formatted } from './output/formatted.js';
import { print } from './output/print.js';
import { inToneOf } from './output/tones.js';

/** Stands for standard input. */
const INPUT = '-';

/**
 * Reports what in the manifests would be ignored, and what may not be meant: 1 when something would be ignored, otherwise 0. Changes
 * nothing.
 */
export async function validate({ request }: Asked<'validate'>): Promise<number> {
  const { paths, output } = request;
  const input = { file: '<stdin>', read: () => text(process.stdin) };
  const found = await validateManifests(
    paths.filter((path) => path !== INPUT),
    shownPath,
    paths.includes(INPUT) ? input : undefined,
  );
  await print(formatted(output, found, textOf));
  return found.findings.some(({ severity }) => severity === 'error') ? 1 : 0;
}

function textOf({ files, objects, findings }: ManifestFindings): readonly string[] {
  const lines = findings.map(lineOf);
  const isValid = findings.every(({ severity }) => severity === 'warning');
  return isValid
    ? [...lines, `${inToneOf('valid')}: ${counted(objects, 'object')} in ${counted(files, 'file')}`]
    : lines;
}

/** `file:line: kind namespace/name: field: what is wrong`. */
function lineOf({ severity, file, line, column, subject, problem }: ManifestFinding): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(':');
  const parts = [place, severity === 'warning' ? inToneOf('warning') : undefined, subject, problem];
  return parts.filter((part) => part !== undefined).join(': ');
}

/** As seen from the current folder, where it is inside. */
function shownPath(file: string): string {
  const inside = relative(process.cwd(), file);
  return inside.startsWith('..') ? file : inside;
}
