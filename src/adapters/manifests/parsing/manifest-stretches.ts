/** Consecutive lines of a manifest that can be read by themselves. */
export interface Stretch {
  readonly text: string;
  /** The line of the file, from 1, on which it begins. */
  readonly line: number;
}

/** A document that is a list, taken apart. */
export interface SplitList {
  /** The list without its items. */
  readonly frame: Stretch;
  /** In each some items, as a YAML sequence. */
  readonly parts: readonly Stretch[];
}

/** Stretches are about so long, in characters, so that reading one takes some milliseconds. */
const LENGTH = 65_536;
/** The marker that begins a document; YAML allows it nowhere else at the beginning of a line. */
const MARKER = /\n(?=---(?:\s|$))/g;
/** Directives, and the marker that ends a document, make more of the lines around them than is looked at here. */
const UNUSUAL = /(?:^|\n)(?:%|\.\.\.(?:\s|$))/;
const NOTHING = /^(?:[ \t]*(?:#[^\n]*)?(?:\r?\n|$))*$/;
/** The key `items` of a document, up to its first item. */
const ITEMS = /(?:^|\n)items:[ \t]*(?:#[^\n]*)?\r?\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*(?= *-[ \r\n])/;

/** The documents of a YAML text, short ones together. */
export function* splitDocuments(text: string): Generator<Stretch> {
  let line = 1;
  let from = 0;
  const take = (to: number): Stretch => {
    const stretch = { text: text.slice(from, to), line };
    from = to;
    line += linesIn(stretch.text);
    return stretch;
  };
  if (!UNUSUAL.test(text)) {
    let last = 0;
    for (const { index } of text.matchAll(MARKER)) {
      const begin = index + 1;
      // What comes before the first marker is no document when it says nothing.
      if (last === 0 && begin < LENGTH && NOTHING.test(text.slice(0, begin))) continue;
      // A long document stands alone, since it may be a list.
      if (last > from && begin - last > LENGTH) yield take(last);
      if (begin - from > LENGTH) yield take(begin);
      last = begin;
    }
    if (last > from && text.length - last > LENGTH) yield take(last);
  }
  if (from < text.length) yield take(text.length);
}

/**
 * Takes a long list in block style apart at the lines that begin its items. What of the list cannot be read by itself, as
 * aliases across items, or texts that go on without indentation, does not parse then.
 */
export function splitList({ text, line }: Stretch): SplitList | undefined {
  if (text.length <= LENGTH) return undefined;
  const head = ITEMS.exec(text);
  if (!head) return undefined;
  const begin = head.index + head[0].length;
  const indentation = text.indexOf('-', begin) - begin;
  const parts: Stretch[] = [];
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
  return { frame: { text: text.slice(0, begin) + text.slice(at), line }, parts };
}

/** Where the line's text begins; undefined when it is blank or a comment. */
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
