import { Allocations } from '../../../domain/validation/allocations.js';
import { serviceKey } from '../../../domain/model/service-port-name.js';
import { References } from '../../domain/references.js';
import {
  loadManifest,
  located,
  type RejectedObject,
  TimeSlice,
} from '../../../adapters/manifests/load-manifest.js';
import { parseKey, stepsTo, subjectOf } from '../../../adapters/manifests/manifest-objects.js';
import type { ManifestPlace } from '../../../adapters/manifests/manifest-chunks.js';
import { readManifestFile, ManifestFiles } from '../../../adapters/manifests/manifest-files.js';
import { ManifestSyntaxError } from '../../../adapters/manifests/manifest-errors.js';

/** One thing that is wrong. */
export interface ManifestFinding {
  /** `warning`: the object would be used, and perhaps not do what is meant. */
  readonly severity: 'error' | 'warning';
  /** The file, as it is to be named. */
  readonly file: string;
  /** From 1; missing where it is not known. */
  readonly line?: number;
  readonly column?: number;
  /** `Service shop/cart`; missing where it is the whole file. */
  readonly subject?: string;
  /** `field: what is wrong with it`. */
  readonly problem: string;
}

/** The findings in manifests. */
export interface ManifestFindings {
  readonly files: number;
  /** Objects that would be used. */
  readonly objects: number;
  readonly findings: readonly ManifestFinding[];
}

/** The text of one manifest. */
interface Named {
  readonly file: string;
  read(): Promise<string>;
}

/**
 * Reads the manifests as a proxy would, and reports what it would ignore, and what of them does not fit together.
 * @param shown how a file is named in problems
 * @param input the text of one more manifest, and its name
 * @throws ManifestPathError
 */
export async function validateManifests(
  paths: readonly string[],
  shown: (file: string) => string = (file) => file,
  input?: Named,
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
      const { objects, rejected, doubts, places } = await loadManifest(await read(), slice, allocations);
      for (const { key, kind, object } of objects) {
        references.add(kind, object);
        placeOf.set(subjectOf(key), { file, place: places.get(key)! });
      }
      for (const doubt of doubts) findings.push({ ...findingOf(file, doubt), severity: 'warning' });
      for (const object of rejected) {
        findings.push(findingOf(file, object));
        const { kind, reference } = parseKey(object.key ?? '');
        if (kind === 'Service') references.expect(serviceKey(reference.namespace ?? '', reference.name));
      }
    } catch (error) {
      findings.push(unread(file, error as Error));
    }
  }
  const issues = [...references.doubts()].map(({ subject, field, what }) => ({
    subject,
    problem: `${field}: ${what}`,
    place: placeOf.get(subject)!.place,
    field: stepsTo(field),
  }));
  for (const doubt of await located(issues, slice))
    findings.push({ ...findingOf(placeOf.get(doubt.subject)!.file, doubt), severity: 'warning' });
  return { files: manifests.length, objects: placeOf.size, findings };
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
