/** The command `validate`: problems in manifests, by file, line and field. */

import { exitCodeOf } from '../../../../adapters/cli/exit-code.js';
import type { Invocation } from '../options.js';
import { UsageError } from '../../../../adapters/cli/usage-error.js';
import { outputOptions, subcommand, type OutputOptions } from '../options.js';
import { relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { counted } from '../../../../application/words.js';
import { fields, list, number, oneOf, optional, text as textShape } from '../../../../domain/shape.js';
import { formatted, print, inToneOf } from '../output.js';
import { Allocations } from '../../../../domain/validation/allocations.js';
import type { RawObject } from '../../../../domain/decode/fields.js';
import { isObject, membersOf } from '../../../../domain/validation/schema.js';
import { serviceKey } from '../../../../domain/model/service-port-name.js';
import { References } from '../../../domain/references.js';
import {
  loadManifest,
  parseKey,
  subjectOf,
  TimeSlice,
  type ManifestPlace,
  type RejectedObject,
} from '../../../../adapters/manifests/load-manifest.js';
import { readManifestFile, ManifestFiles } from '../../../../adapters/manifests/manifest-files.js';
import { ManifestSyntaxError } from '../../../../adapters/manifests/manifest-text.js';

/** Which files and folders to check. */
export const validateCommand = subcommand({
  name: 'validate',
  group: 'Without a proxy:',
  description:
    'Report what in these manifests is invalid, by file, line and field, and what does not fit together, without changing anything.',
  summary: 'List the problems of manifests.',
  usage: 'PATH|-... [flags]',
  options: outputOptions,
  request(paths, { output }: OutputOptions) {
    if (paths.length === 0)
      throw new UsageError(
        'validate takes the files and folders to check, or - for standard input, got none',
      );
    if (paths.includes(''))
      throw new UsageError('validate got an empty path; give existing files or folders');
    return { paths, output, manifests: paths.filter((path) => path !== '-') };
  },
});

/** Stands for standard input. */
const INPUT = '-';

/**
 * Reports what in the manifests would be ignored, and what may not be meant: 1 when something would be ignored, otherwise 0. Changes
 * nothing.
 * @param nodePortWarning of Services with node ports; undefined: there is none
 */
export async function validate(
  { request }: Invocation<typeof validateCommand>,
  nodePortWarning?: string,
): Promise<number> {
  const { paths, output } = request;
  const input = { file: '<stdin>', read: () => text(process.stdin) };
  const found = await validateManifests(
    paths.filter((path) => path !== INPUT),
    shownPath,
    paths.includes(INPUT) ? input : undefined,
    nodePortWarning,
  );
  await print(formatted(output, found, textOf));
  return exitCodeOf(found.findings.length > 0);
}

function textOf({ fileCount: files, objectCount: objects, findings }: ManifestFindings): readonly string[] {
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

/** A problem in a manifest. */
type ManifestFinding = ReturnType<typeof manifestFinding>;
const manifestFinding = fields({
  /** `warning`: the object is valid, but may have no effect. */
  severity: oneOf('error', 'warning'),
  /** The file name for output. */
  file: textShape,
  /** From 1; missing where it is not known. */
  line: optional(number),
  column: optional(number),
  /** `Service shop/cart`; missing for a problem of the whole file. */
  subject: optional(textShape),
  /** `field: problem`. */
  problem: textShape,
});

/** The findings in manifests. */
export type ManifestFindings = ReturnType<typeof validateAnswer>;
export const validateAnswer = fields({
  fileCount: number,
  /** Valid objects. */
  objectCount: number,
  findings: list(manifestFinding),
});

/** The text of one manifest. */
interface Named {
  readonly file: string;
  read(): Promise<string>;
}

/**
 * Reads the manifests as a proxy would, and reports what it would ignore, and what of them does not fit together.
 * @param shown how a file is named in problems
 * @param input the text of one more manifest, and its name
 * @param nodePortWarning as of `validate`
 * @throws ManifestPathError
 */
export async function validateManifests(
  paths: readonly string[],
  shown: (file: string) => string = (file) => file,
  input?: Named,
  nodePortWarning?: string,
): Promise<ManifestFindings> {
  const { files, unlisted } = ManifestFiles.open(paths).list();
  const findings: ManifestFinding[] = unlisted.map(({ path, problem }) => ({
    severity: 'error',
    file: shown(path),
    problem,
  }));
  const manifests: readonly Named[] = [
    ...files.map((file) => ({ file: shown(file), read: () => readManifestFile(file) })),
    ...(input ? [input] : []),
  ];
  const slice = new TimeSlice();
  const allocations = new Allocations();
  const references = new References();
  const placeOf = new Map<string, { readonly file: string; readonly place: ManifestPlace }>();
  for (const { file, read } of manifests) {
    try {
      const { objects, rejected, warnings, places } = await loadManifest(await read(), slice, allocations);
      for (const { key, kind, object } of objects) {
        references.add(kind, object);
        const place = places.get(key)!;
        placeOf.set(subjectOf(key), { file, place });
        if (nodePortWarning === undefined || kind !== 'Service' || !hasNodePort(object)) continue;
        const warning = {
          subject: subjectOf(key),
          problem: `spec.ports: ${nodePortWarning}`,
          line: place.lineOf('spec.ports'),
        };
        findings.push({ ...findingOf(file, warning), severity: 'warning' });
      }
      for (const warning of warnings) findings.push({ ...findingOf(file, warning), severity: 'warning' });
      for (const object of rejected) {
        findings.push(findingOf(file, object));
        const { kind, reference } = parseKey(object.key ?? '');
        if (kind === 'Service') references.expect(serviceKey(reference.namespace ?? '', reference.name));
      }
    } catch (error) {
      findings.push(unread(file, error as Error));
    }
  }
  for (const { subject, field, what } of references.problems()) {
    const { file, place } = placeOf.get(subject)!;
    const warning = { subject, problem: `${field}: ${what}`, line: place.lineOf(field) };
    findings.push({ ...findingOf(file, warning), severity: 'warning' });
  }
  return { fileCount: manifests.length, objectCount: placeOf.size, findings };
}

/** Whether it has one, or the API server gives it one. */
function hasNodePort(object: object): boolean {
  const { spec } = object as RawObject;
  if (!isObject(spec)) return false;
  const isAllocated = spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false;
  const isRequested = membersOf(spec.ports).some((port) => isObject(port) && Number(port.nodePort) > 0);
  return spec.type === 'NodePort' || isAllocated || isRequested;
}

function findingOf(file: string, { line, subject, problem }: RejectedObject): ManifestFinding {
  return { severity: 'error', file, ...(line !== undefined && { line }), subject, problem };
}

function unread(file: string, error: Error): ManifestFinding {
  const { line, column } = error instanceof ManifestSyntaxError ? error : {};
  return {
    severity: 'error',
    file,
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
    problem: error.message,
  };
}
