/** Parts of a manifest that are parsed on their own, and places in them. */

import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  type Document,
  type Node,
} from 'yaml';

/** Consecutive lines of a manifest that can be parsed on their own. */
export interface Chunk {
  readonly text: string;
  /** The line of the file, from 1, on which it begins. */
  readonly line: number;
}

/** A long list, split into parts. */
interface SplitList {
  /** The list without its items. */
  readonly envelope: Chunk;
  /** Some items each, as a YAML sequence. */
  readonly parts: readonly Chunk[];
}

/** The path to a value: names of fields, and indices of lists. */
export type Path = readonly (string | number)[];

/** Approximate length of a chunk in characters; parsing one takes some milliseconds. */
const LENGTH = 65_536;
/** The marker that begins a document. YAML allows it nowhere else at the beginning of a line. */
const MARKER = /\n(?=---(?:\s|$))/g;
/** Directives, and the marker that ends a document, affect the lines around them; such text is not split. */
const UNUSUAL = /(?:^|\n)(?:%|\.\.\.(?:\s|$))/;
const NOTHING = /^(?:[ \t]*(?:#[^\n]*)?(?:\r?\n|$))*$/;
/** The key `items` of a document, up to its first item. */
const ITEMS = /(?:^|\n)items:[ \t]*(?:#[^\n]*)?\r?\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*(?= *-[ \r\n])/;

/** Splits a YAML text at its documents; short ones stay together. */
export function* splitDocuments(text: string): Generator<Chunk> {
  let line = 1;
  let from = 0;
  const take = (to: number): Chunk => {
    const chunk = { text: text.slice(from, to), line };
    from = to;
    line += linesIn(chunk.text);
    return chunk;
  };
  if (!UNUSUAL.test(text)) {
    let last = 0;
    for (const { index } of text.matchAll(MARKER)) {
      const begin = index + 1;
      // Blank lines and comments before the first marker are not a document.
      if (last === 0 && begin < LENGTH && NOTHING.test(text.slice(0, begin))) continue;
      // A long document stays alone, because it may be a list.
      if (last > from && begin - last > LENGTH) yield take(last);
      if (begin - from > LENGTH) yield take(begin);
      last = begin;
    }
    if (last > from && text.length - last > LENGTH) yield take(last);
  }
  if (from < text.length) yield take(text.length);
}

/**
 * Splits a long list in block style at the lines that begin its items. If a part depends on others, as with aliases across
 * items or multi-line text without indentation, it does not parse.
 */
export function splitList({ text, line }: Chunk): SplitList | undefined {
  if (text.length <= LENGTH) return undefined;
  const head = ITEMS.exec(text);
  if (!head) return undefined;
  const begin = head.index + head[0].length;
  const indentation = text.indexOf('-', begin) - begin;
  const parts: Chunk[] = [];
  let from = begin;
  let partLine = line + linesIn(text.slice(0, begin));
  const take = (to: number): void => {
    const part = { text: text.slice(from, to), line: partLine };
    parts.push(part);
    partLine += linesIn(part.text);
    from = to;
  };
  let at = begin;
  for (; at < text.length; at = nextLine(text, at)) {
    const first = indentedTo(text, at);
    if (first === undefined) continue;
    if (first - at < indentation || (first - at === indentation && text[first] !== '-')) break;
    if (first - at === indentation && at - from > LENGTH) take(at);
  }
  take(at);
  return { envelope: { text: text.slice(0, begin) + text.slice(at), line }, parts };
}

/** The offset where the line's text begins; undefined if it is blank or a comment. */
function indentedTo(text: string, lineStart: number): number | undefined {
  let at = lineStart;
  while (text[at] === ' ') at++;
  return at >= text.length || '\r\n#\t'.includes(text[at]!) ? undefined : at;
}

function nextLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end + 1;
}

function linesIn(text: string): number {
  let lines = 0;
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) lines++;
  return lines;
}

/** In a longer chunk finding lines would take too long. Characters. */
const LONGEST = 1_000_000;

/** Finds lines by parsing chunks a second time, with the slower library that knows positions. Only for reports. */
export class ManifestLines {
  private readonly lines = new LineCounter();
  private readonly documents: readonly Document[];

  constructor(private readonly chunk: Chunk) {
    this.documents =
      chunk.text.length > LONGEST
        ? []
        : parseAllDocuments(chunk.text, { lineCounter: this.lines, uniqueKeys: false });
  }

  /** The line of the file, from 1, of a value, or else of the innermost value that contains it. Undefined in a very long text. */
  lineOf([index = 0, ...path]: Path): number | undefined {
    const document = this.documents[Number(index)];
    if (!document) return undefined;
    let node: unknown = document.contents;
    let start = startOf(node);
    for (const step of path) {
      if (isAlias(node)) node = node.resolve(document);
      if (isMap(node)) {
        const pair = node.items.find(({ key }) => isScalar(key) && key.value === step);
        if (!pair) break;
        start = startOf(pair.key) ?? start;
        node = pair.value;
      } else if (isSeq(node)) {
        node = node.items[Number(step)];
        start = startOf(node) ?? start;
      } else break;
    }
    return start === undefined ? undefined : this.chunk.line - 1 + this.lines.linePos(start).line;
  }
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

/** A place in a manifest: a document, or an item of a list. Small, because each object has one. */
export class ManifestPlace {
  static document(chunk: Chunk, index: number, number: number): ManifestPlace {
    return new ManifestPlace(chunk, index, number, undefined);
  }

  /**
   * @param index of the document or item in the chunk
   * @param number of the document in the file, or the item in the list, from 0
   */
  private constructor(
    readonly chunk: Chunk,
    private readonly index: number,
    private readonly number: number,
    private readonly list: ManifestPlace | undefined,
  ) {}

  /** An item of the list at this place. If the list was split: the chunk that contains the item, and its index there. */
  item(number: number, chunk = this.chunk, index = number): ManifestPlace {
    return new ManifestPlace(chunk, index, number, this);
  }

  /** The path from the chunk's documents to this place. */
  get path(): Path {
    if (!this.list) return [this.index];
    return this.list.chunk === this.chunk ? [...this.list.path, 'items', this.index] : [0, this.index];
  }

  /** For people, such as `document 1, item 3`. */
  toString(): string {
    return this.list ? `${this.list.toString()}, item ${this.number + 1}` : `document ${this.number + 1}`;
  }
}
