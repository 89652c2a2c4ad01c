import yaml from 'js-yaml';
import { ManifestSyntaxError } from '../manifest-errors.js';
import { ManifestLines } from './manifest-lines.js';
import { ManifestPlace } from './manifest-place.js';
import { splitDocuments, splitList, type Stretch } from './manifest-stretches.js';

/** A document of a manifest, or an item of a list that is too long to be read at once. */
export interface ManifestValue {
  readonly value: unknown;
  readonly place: ManifestPlace;
  /** For an item: the kind of the list. */
  readonly list?: string;
}

/** YAML 1.2 core with merge keys (`<<`), as Kubernetes' own tools read it. Dates stay text. */
const SCHEMA = yaml.CORE_SCHEMA.extend({
  implicit: [new yaml.Type('tag:yaml.org,2002:merge', { kind: 'scalar', resolve: (text) => text === '<<' })],
});

/** Aliases may add so many values to a text, and one for each of its characters. */
const ALIASED_VALUES = 100_000;

/**
 * Reads JSON, or any number of YAML documents, a batch at a time, so that other work can be done in between; a batch may be
 * empty. JSON goes through JSON.parse, which is several times faster than any YAML parser; what it refuses is read as
 * YAML. A duplicate key in YAML is an error.
 * Throws ManifestSyntaxError with the position.
 */
export function* parseManifest(text: string): Generator<readonly ManifestValue[]> {
  const json = parseJson(text);
  if (json !== undefined) {
    yield [{ value: json, place: ManifestPlace.document({ text, line: 1 }, 0, 0) }];
    return;
  }
  let documents = 0;
  for (const stretch of splitDocuments(text)) {
    const items = yield* parseList(stretch, documents);
    if (items) {
      documents++;
      yield items;
    } else {
      const first = documents;
      const values = parseYaml(stretch);
      documents += values.length;
      yield values.map((value, index) => ({
        value,
        place: ManifestPlace.document(stretch, index, first + index),
      }));
    }
  }
}

/** Reads a long list in parts. Undefined when it is none, or has to be read as a whole, to find out what is wrong at least. */
function* parseList(
  stretch: Stretch,
  document: number,
): Generator<readonly [], readonly ManifestValue[] | undefined> {
  const list = splitList(stretch);
  if (!list) return undefined;
  try {
    const [frame] = parseYaml(list.frame) as [{ readonly kind?: unknown } | null];
    const kind = frame?.kind;
    if (typeof kind !== 'string' || !kind.endsWith('List')) return undefined;
    const whole = ManifestPlace.document(stretch, 0, document);
    const items: ManifestValue[] = [];
    for (const part of list.parts) {
      const [values = []] = parseYaml(part) as [unknown[]];
      values.forEach((value, index) => {
        items.push({ value, place: whole.item(items.length, part, index), list: kind });
      });
      yield [];
    }
    return items;
  } catch (error) {
    if (error instanceof ManifestSyntaxError) return undefined;
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseYaml(stretch: Stretch): unknown[] {
  const { text, line } = stretch;
  let values: unknown[];
  try {
    values = yaml.loadAll(text, null, { schema: SCHEMA });
  } catch (error) {
    if (!(error instanceof yaml.YAMLException)) throw error;
    const mark = error.mark as yaml.Mark | undefined;
    // Where text ends too early, the mark is past its last line.
    const lines = text.trimEnd().split('\n').length;
    throw new ManifestSyntaxError(
      error.reason,
      mark && line - 1 + Math.min(mark.line + 1, lines),
      mark && mark.column + 1,
    );
  }
  if (text.includes('*')) {
    const swollen = values.findIndex((value) => repeats(value, ALIASED_VALUES + text.length));
    if (swollen >= 0) {
      const found = new ManifestLines(stretch).lineOf([swollen]);
      throw new ManifestSyntaxError('aliases repeat too much', found, undefined);
    }
  }
  return values;
}

/** Whether more than so many values are found in what is met again, as aliases make it. */
function repeats(value: unknown, most: number): boolean {
  const seen = new Set<object>();
  const open: (readonly [value: unknown, again: boolean])[] = [[value, false]];
  let repeated = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const [part, within] = next;
    if (typeof part !== 'object' || part === null) continue;
    const again = within || seen.has(part);
    seen.add(part);
    const parts: readonly unknown[] = Object.values(part);
    if (again) repeated += parts.length;
    if (repeated > most) return true;
    for (const member of parts) open.push([member, again]);
  }
  return false;
}
