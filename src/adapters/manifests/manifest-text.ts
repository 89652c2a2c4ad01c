import yaml from 'js-yaml';
import { ManifestSyntaxError } from './manifest-errors.js';

/** YAML 1.2 core with merge keys (`<<`), as Kubernetes' own tools read it. Dates stay text. */
const SCHEMA = yaml.CORE_SCHEMA.extend({
  implicit: [new yaml.Type('tag:yaml.org,2002:merge', { kind: 'scalar', resolve: (text) => text === '<<' })],
});

/**
 * Reads JSON, or any number of YAML documents. JSON goes through JSON.parse, which is several times faster than any
 * YAML parser; what it refuses is read as YAML. A duplicate key in YAML is an error.
 * Throws ManifestSyntaxError with the position.
 */
export function parseManifest(text: string): unknown[] {
  return parseJson(text) ?? parseYaml(text);
}

/**
 * The line (from 1) on which each object of the text begins. A second reading of the text, made only to report an
 * object that has no name to be known by. Empty when the text is JSON that YAML does not allow.
 */
export function locateObjects(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  const starts: number[] = [];
  const found = new Map<object, number>();
  const note = (event: yaml.EventType, state: yaml.State): void => {
    if (event === 'open') {
      starts.push(state.line + 1);
      return;
    }
    const line = starts.pop();
    const value: unknown = state.result;
    if (line !== undefined && typeof value === 'object' && value !== null && !found.has(value))
      found.set(value, line);
  };
  const visit = (value: unknown, place: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const line = found.get(value);
    if (line !== undefined) lines.set(place, line);
    const items: unknown = (value as { items?: unknown }).items;
    if (Array.isArray(items)) items.forEach((item, index) => visit(item, itemPlace(place, index)));
  };
  try {
    parseYaml(text, note).forEach((document, index) => visit(document, documentPlace(index)));
  } catch (error) {
    if (!(error instanceof ManifestSyntaxError)) throw error;
  }
  return lines;
}

/** The place of a document in its file, such as `document 2`. */
export function documentPlace(index: number): string {
  return `document ${index + 1}`;
}

/** The place of an item of a list, such as `document 1, item 3`. */
export function itemPlace(list: string, index: number): string {
  return `${list}, item ${index + 1}`;
}

function parseJson(text: string): unknown[] | undefined {
  try {
    return [JSON.parse(text)];
  } catch {
    return undefined;
  }
}

function parseYaml(text: string, listener?: (event: yaml.EventType, state: yaml.State) => void): unknown[] {
  try {
    return yaml.loadAll(text, null, { schema: SCHEMA, ...(listener && { listener }) });
  } catch (error) {
    if (!(error instanceof yaml.YAMLException)) throw error;
    const mark = error.mark as yaml.Mark | undefined;
    // Where text ends too early, the mark is past its last line.
    const lines = text.trimEnd().split('\n').length;
    throw new ManifestSyntaxError(
      error.reason,
      mark && Math.min(mark.line + 1, lines),
      mark && mark.column + 1,
    );
  }
}
