import type { Path } from './manifest-lines.js';
import type { Chunk } from './manifest-chunks.js';

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
