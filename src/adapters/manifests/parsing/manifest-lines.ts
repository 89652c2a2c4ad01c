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
import type { Chunk } from './manifest-chunks.js';

/** The path to a value: names of fields, and indices of lists. */
export type Path = readonly (string | number)[];

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
