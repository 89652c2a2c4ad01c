import { YAMLException } from 'js-yaml';
import { ManifestSyntaxError } from '../manifest-errors.js';
import { ManifestLines } from './manifest-lines.js';
import { ManifestPlace } from './manifest-place.js';
import { checkYaml, isDeepJson, isLong, tooDeep } from './parsing-limits.js';
import { splitDocuments, splitList, type Chunk } from './manifest-chunks.js';
import { ALIASED_VALUES, TOO_DEEP, yamlDocuments } from './yaml-documents.js';

/** A document of a manifest, or an item of a list that is too long to be parsed at once. */
export interface ManifestValue {
  readonly value: unknown;
  readonly place: ManifestPlace;
  /** For an item: the kind of the list. */
  readonly list?: string;
}

/**
 * Parses JSON, or any number of YAML documents, a batch at a time, so that other work can run in between. A batch may be
 * empty. JSON.parse is several times faster than any YAML parser; text that it rejects is parsed as YAML. A duplicate key in
 * YAML is an error.
 * @throws ManifestSyntaxError with the position
 */
export function* parseManifest(text: string): Generator<readonly ManifestValue[]> {
  const json = parseJson(text);
  if (json !== undefined) {
    yield [{ value: json, place: ManifestPlace.document({ text, line: 1 }, 0, 0) }];
    return;
  }
  let documents = 0;
  for (const chunk of splitDocuments(text)) {
    const items = yield* parseList(chunk, documents);
    if (items) {
      documents++;
      yield items;
    } else {
      const first = documents;
      const values = parseYaml(chunk);
      documents += values.length;
      yield values.map((value, index) => ({
        value,
        place: ManifestPlace.document(chunk, index, first + index),
      }));
    }
  }
}

/** Parses a long list in parts. Undefined if it is not one, or must be parsed as a whole, if only to find the error. */
function* parseList(
  chunk: Chunk,
  document: number,
): Generator<readonly [], readonly ManifestValue[] | undefined> {
  const list = splitList(chunk);
  if (!list) return undefined;
  try {
    const [envelope] = parseYaml(list.envelope) as [{ readonly kind?: unknown } | null];
    const kind = envelope?.kind;
    if (typeof kind !== 'string' || !kind.endsWith('List')) return undefined;
    const whole = ManifestPlace.document(chunk, 0, document);
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
    if (error instanceof ManifestSyntaxError && !isLong(chunk.text)) return undefined;
    throw error;
  }
}

/** Text of other beginnings is no JSON object or list. */
const JSON_BEGINNING = /^\s*[[{]/;

function parseJson(text: string): unknown {
  if (!JSON_BEGINNING.test(text)) return undefined;
  if (isDeepJson(text)) {
    if (isLong(text)) throw tooDeep(1);
    // It may only look like JSON. The YAML parser counts exactly.
    return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseYaml(chunk: Chunk): unknown[] {
  const { text, line } = chunk;
  checkYaml(chunk);
  let values: unknown[];
  try {
    values = yamlDocuments(text);
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(line);
    if (!(error instanceof YAMLException)) throw error;
    if (error.reason.startsWith(TOO_DEEP)) throw tooDeep(line);
    const { mark } = error;
    // If the text ends too early, the mark is past its last line.
    const lines = text.trimEnd().split('\n').length;
    throw new ManifestSyntaxError(
      error.reason,
      mark && line - 1 + Math.min(mark.line + 1, lines),
      mark && mark.column + 1,
    );
  }
  if (text.includes('*')) {
    const expanded = values.findIndex((value) => repeats(value, ALIASED_VALUES + text.length));
    if (expanded >= 0) {
      const found = new ManifestLines(chunk).lineOf([expanded]);
      throw new ManifestSyntaxError('aliases expand to too many values', found, undefined);
    }
  }
  return values;
}

/** Whether more than this many values are reached repeatedly, through aliases. */
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
