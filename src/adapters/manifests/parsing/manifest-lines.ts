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
import type { Stretch } from './manifest-stretches.js';

/** The way to a value: names of fields, and indices of lists. */
export type Path = readonly (string | number)[];

/** In a longer stretch no lines are looked for: it would take too long. Characters. */
const LONGEST = 1_000_000;

/** Finds lines by reading stretches of text once more, which is done only to report something. */
export class ManifestLines {
  private readonly lines = new LineCounter();
  private readonly documents: readonly Document[];

  constructor(private readonly stretch: Stretch) {
    this.documents =
      stretch.text.length > LONGEST
        ? []
        : parseAllDocuments(stretch.text, { lineCounter: this.lines, uniqueKeys: false });
  }

  /** The line of the file, from 1, of a value, or of what is nearest to it of what holds it. Undefined in a very long text. */
  lineOf([index = 0, ...path]: Path): number | undefined {
    const document = this.documents[Number(index)];
    if (!document) return undefined;
    let node: unknown = document.contents;
    let start = beginOf(node);
    for (const step of path) {
      if (isAlias(node)) node = node.resolve(document);
      if (isMap(node)) {
        const pair = node.items.find(({ key }) => isScalar(key) && key.value === step);
        if (!pair) break;
        start = beginOf(pair.key) ?? start;
        node = pair.value;
      } else if (isSeq(node)) {
        node = node.items[Number(step)];
        start = beginOf(node) ?? start;
      } else break;
    }
    return start === undefined ? undefined : this.stretch.line - 1 + this.lines.linePos(start).line;
  }
}

function beginOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}
