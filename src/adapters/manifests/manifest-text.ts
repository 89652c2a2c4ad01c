/** Parses the text of a manifest, within limits. */

import { YAMLException, CORE_SCHEMA, loadAll, mergeTag } from 'js-yaml';
import { ManifestLines, splitDocuments, splitList, ManifestPlace, type Chunk } from './manifest-chunks.js';
import { ManifestSyntaxError } from './manifest-errors.js';

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

/** YAML 1.2 core with merge keys (`<<`), as Kubernetes' own tools read it. Dates stay text. */
const SCHEMA = CORE_SCHEMA.withTags(mergeTag);

/** The number of values that aliases and merge keys may add to a text, besides one for each of its characters. */
const ALIASED_VALUES = 100_000;

/** How the reason begins when a text has more than DEEPEST levels. */
const TOO_DEEP = 'nesting exceeded';
const NOT_INDENTED = 'deficient indentation';
const INDENTATION = ' '.repeat(200);
/** Each costs another try. */
const MOST_MOVED = 100;

/**
 * The documents of a text.
 *
 * Manifests are parsed with js-yaml, not with the package yaml that parses everything else: 17 MB with 10,000 Services and their
 * EndpointSlices take 2.0 s of the processor, with yaml 10.3 s (medians of five runs). js-yaml alone would not do either: it tells
 * no positions of values, and keeps no comments.
 *
 * Within brackets and quotes js-yaml wants every line to be indented more than the key before, as the specification does. Kubernetes'
 * own tools do not, and people put a closing bracket below its key. Blanks at the beginning of these lines mean nothing, so they get some.
 * @throws YAMLException; RangeError where nesting is too deep for the stack
 */
function yamlDocuments(text: string): unknown[] {
  const moved = new Set<number>();
  let lines: string[] | undefined;
  for (;;) {
    try {
      return loadAll(lines?.join('\n') ?? text, {
        schema: SCHEMA,
        maxDepth: DEEPEST,
        maxTotalMergeKeys: ALIASED_VALUES + text.length,
      });
    } catch (error) {
      if (!(error instanceof YAMLException) || !error.mark) throw error;
      const { mark } = error;
      const isMoved = moved.has(mark.line);
      if (error.reason !== NOT_INDENTED || isMoved || moved.size === MOST_MOVED) {
        if (isMoved) mark.column = Math.max(0, mark.column - INDENTATION.length);
        throw error;
      }
      moved.add(mark.line);
      lines ??= text.split('\n');
      lines[mark.line] = INDENTATION + (lines[mark.line] ?? '');
    }
  }
}

/** The longest text that is parsed as YAML in one go, in characters. It takes half a second; no object may be as large. */
const LONGEST = 4 * 1024 * 1024;
/** The most levels of nesting. Objects of Kubernetes have a dozen. */
const DEEPEST = 1000;

/** Whether a text is too long to be parsed as YAML in one go. */
function isLong(text: string): boolean {
  return text.length > LONGEST;
}

/**
 * Rejects what would take much time, before it is parsed.
 * @throws ManifestSyntaxError
 */
function checkYaml({ text, line }: Chunk): void {
  if (!isLong(text)) return;
  const size = Math.ceil(text.length / 1024 / 1024);
  const reason = `a document of ${size} MiB is too long for YAML; put each object into a document of its own`;
  throw new ManifestSyntaxError(reason, line, undefined);
}

/** The error for what begins at that line. */
function tooDeep(line: number): ManifestSyntaxError {
  return new ManifestSyntaxError(`nested too deeply; the limit is ${DEEPEST} levels`, line, undefined);
}

/** Whether a text, read as JSON, has too many levels, in a list of lists for example. Brackets in its strings do not count. */
function isDeepJson(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === OPENING_BRACKET || code === OPENING_BRACE) {
      if (++depth > DEEPEST) return true;
    } else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) depth--;
  }
  return false;
}

/** @param start the place of the opening quote */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at;
  }
  return text.length;
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPENING_BRACKET, CLOSING_BRACKET, OPENING_BRACE, CLOSING_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];
