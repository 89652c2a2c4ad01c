/** Consecutive lines of a manifest that can be parsed on their own. */
export interface Chunk {
  readonly text: string;
  /** The line of the file, from 1, on which it begins. */
  readonly line: number;
}

/** A long list, split into parts. */
export interface SplitList {
  /** The list without its items. */
  readonly envelope: Chunk;
  /** Some items each, as a YAML sequence. */
  readonly parts: readonly Chunk[];
}

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
