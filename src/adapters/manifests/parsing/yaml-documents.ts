import { CORE_SCHEMA, loadAll, mergeTag, YAMLException } from 'js-yaml';
import { DEEPEST } from './parsing-limits.js';

/** YAML 1.2 core with merge keys (`<<`), as Kubernetes' own tools read it. Dates stay text. */
const SCHEMA = CORE_SCHEMA.withTags(mergeTag);

/** The number of values that aliases and merge keys may add to a text, besides one for each of its characters. */
export const ALIASED_VALUES = 100_000;

/** How the reason begins when a text has more than DEEPEST levels. */
export const TOO_DEEP = 'nesting exceeded';
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
export function yamlDocuments(text: string): unknown[] {
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
