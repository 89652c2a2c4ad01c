/** Parses the text of a manifest, and finds lines in it. */

import {
  CORE_SCHEMA,
  EVENT_ID,
  getScalarValue,
  loadAll,
  mergeTag,
  parseEvents,
  YAMLException,
  type Event,
} from 'js-yaml';
import { NamedError } from '../../domain/model/named-error.js';

/** The path to a value: names of fields, and indices of lists. */
export type Path = readonly (string | number)[];

/** Text that is neither JSON nor YAML. Line and column count from 1; undefined if the parser does not report them. */
export class ManifestSyntaxError extends NamedError {
  constructor(
    reason: string,
    readonly line: number | undefined,
    readonly column: number | undefined,
  ) {
    super(reason);
  }

  /** `file:line:column`, without the unknown parts. */
  place(file: string): string {
    return [file, this.line, this.column].filter((part) => part !== undefined).join(':');
  }
}

/** A document of a manifest. */
export interface ManifestDocument {
  readonly value: unknown;
  /** In the file, from 1. */
  readonly number: number;
  readonly source: ManifestPart;
  /** Among the documents of the source. */
  readonly index: number;
}

/** The marker that begins a document. YAML allows it nowhere else at the beginning of a line. */
const MARKER = /^(?=---(?:\s|$))/m;
/** Directives stand before the marker of their document. */
const DIRECTIVE = /^%/m;
/** Text of other beginnings is no JSON object or list. */
const JSON_BEGINNING = /^\s*[[{]/;

/**
 * Parses JSON, or any number of YAML documents, one after another. JSON.parse is several times faster than any YAML parser;
 * text that it rejects is parsed as YAML. A duplicate key in YAML is an error.
 * @throws ManifestSyntaxError with the position
 */
export function* parseManifest(text: string): Generator<ManifestDocument> {
  const json = parseJson(text);
  if (json !== undefined) {
    yield { value: json, number: 1, source: new ManifestPart(text, 1), index: 0 };
    return;
  }
  let line = 1;
  let number = 0;
  for (const part of DIRECTIVE.test(text) ? [text] : text.split(MARKER)) {
    const source = new ManifestPart(part, line);
    for (const [index, value] of source.values().entries()) yield { value, number: ++number, source, index };
    line += part.split('\n').length - 1;
  }
}

function parseJson(text: string): unknown {
  if (!JSON_BEGINNING.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The most levels of nesting in YAML. Objects of Kubernetes have a dozen. */
const DEEPEST = 100;
/** The number of values that aliases may add to a text, besides one for each of its characters. */
const ALIASED_VALUES = 100_000;
/** YAML 1.2 core with merge keys (`<<`), as Kubernetes' own tools read it. Dates stay text. */
const SCHEMA = CORE_SCHEMA.withTags(mergeTag);
/** How the library reports a line with too little indentation. */
const NOT_INDENTED = 'deficient indentation';
const INDENTATION = ' '.repeat(200);
/** Each costs another attempt. */
const MOST_INDENTED = 100;

/** The values in a value, each with the line on which it begins. */
interface Position {
  /** Undefined for an empty value. */
  readonly line: number | undefined;
  /** The text of a scalar. */
  readonly text?: string;
  readonly members: ReadonlyMap<string | number, Position>;
}

/** Consecutive lines of a manifest: a document, nearly always. */
export class ManifestPart {
  private positions: readonly (Position | undefined)[] | undefined;

  /** @param line of the file, from 1, on which it begins */
  constructor(
    private text: string,
    private readonly line: number,
  ) {}

  /**
   * The values of its documents. Lines within brackets or quotes may have less indentation than YAML requires, as Kubernetes' own tools
   * accept it: they are indented, which changes no value.
   * @throws ManifestSyntaxError
   */
  values(): readonly unknown[] {
    const indented = new Set<number>();
    for (;;) {
      try {
        return this.parse();
      } catch (error) {
        if (!(error instanceof YAMLException)) throw error;
        const { reason, mark } = error;
        const isRepeated = mark && indented.has(mark.line);
        if (reason !== NOT_INDENTED || !mark || isRepeated || indented.size === MOST_INDENTED)
          throw this.syntaxError(error, isRepeated ? INDENTATION.length : 0);
        indented.add(mark.line);
        const lines = this.text.split('\n');
        lines[mark.line] = INDENTATION + (lines[mark.line] ?? '');
        this.text = lines.join('\n');
      }
    }
  }

  private parse(): readonly unknown[] {
    const { text, line } = this;
    const most = ALIASED_VALUES + text.length;
    const values = loadAll(text, { schema: SCHEMA, maxDepth: DEEPEST, maxTotalMergeKeys: most });
    if (text.includes('*') && hasMoreValues(values, most))
      throw new ManifestSyntaxError('aliases expand to too many values', line, undefined);
    return values;
  }

  /** @param added characters that were put before the line */
  private syntaxError({ mark, reason }: YAMLException, added: number): ManifestSyntaxError {
    // If the text ends too early, the mark is past its last line.
    const lines = this.text.trimEnd().split('\n').length;
    return new ManifestSyntaxError(
      reason.startsWith('nesting exceeded') ? `nested too deeply; the limit is ${DEEPEST} levels` : reason,
      mark && this.line - 1 + Math.min(mark.line + 1, lines),
      mark && Math.max(0, mark.column - added) + 1,
    );
  }

  /** The line of the file, from 1, of a value, or else of the innermost value that contains it. Undefined in JSON that is no YAML. */
  lineOf(index: number, path: Path): number | undefined {
    this.positions ??= positionsIn(this.text, this.line);
    let position = this.positions[index];
    let line = position?.line;
    for (const step of path) {
      position = position?.members.get(step);
      line = position?.line ?? line;
    }
    return line;
  }
}

/** Whether more values than this are in a list of values; one that has several aliases counts as often. */
function hasMoreValues(values: readonly unknown[], most: number): boolean {
  const open = [...values];
  let left = most;
  while (open.length > 0) {
    const part = open.pop();
    if (typeof part !== 'object' || part === null) continue;
    const members: readonly unknown[] = Object.values(part);
    left -= members.length;
    if (left < 0) return true;
    for (const member of members) open.push(member);
  }
  return false;
}

const NO_MEMBERS: Position['members'] = new Map();

/** By document. Only for reports, as it parses the text a second time. */
function positionsIn(text: string, firstLine: number): readonly (Position | undefined)[] {
  let events: ArrayIterator<Event>;
  try {
    events = parseEvents(text, { maxDepth: DEEPEST }).values();
  } catch {
    return [];
  }
  let line = firstLine;
  let lineStart = 0;
  /** @param offset not before that of the last call, or -1 for an empty value */
  const lineAt = (offset: number): number | undefined => {
    for (let end; (end = text.indexOf('\n', lineStart)) >= 0 && end < offset; line++) lineStart = end + 1;
    return offset < 0 ? undefined : line;
  };
  /** Undefined at the end of what contains it. */
  const read = (): Position | undefined => {
    const event = events.next().value;
    switch (event?.type) {
      case EVENT_ID.SCALAR:
        return {
          line: lineAt(event.valueStart),
          text: getScalarValue(text, event),
          members: NO_MEMBERS,
        };
      case EVENT_ID.ALIAS:
        return { line: lineAt(event.anchorStart), members: NO_MEMBERS };
      case EVENT_ID.SEQUENCE:
      case EVENT_ID.MAPPING: {
        const members = new Map<string | number, Position>();
        const position = { line: lineAt(event.start), members };
        for (let member = read(); member; member = read())
          if (event.type === EVENT_ID.SEQUENCE) members.set(members.size, member);
          else members.set(member.text ?? '', { ...read()!, line: member.line });
        return position;
      }
      default:
        return undefined;
    }
  };
  const documents: (Position | undefined)[] = [];
  for (const { type } of events) if (type === EVENT_ID.DOCUMENT) documents.push(read());
  return documents;
}
