import type { Path } from './manifest-lines.js';
import type { Stretch } from './manifest-stretches.js';

/** Where in a manifest something stands: a document, or an item of a list. Small, since each object has one. */
export class ManifestPlace {
  static document(stretch: Stretch, index: number, number: number): ManifestPlace {
    return new ManifestPlace(stretch, index, number, undefined);
  }

  /**
   * @param index among the documents, or items, of the stretch
   * @param number among those of the file, or list, from 0
   */
  private constructor(
    readonly stretch: Stretch,
    private readonly index: number,
    private readonly number: number,
    private readonly list: ManifestPlace | undefined,
  ) {}

  /** An item of the list that stands here; of a list that was taken apart, the stretch that holds it, and its index there. */
  item(number: number, stretch = this.stretch, index = number): ManifestPlace {
    return new ManifestPlace(stretch, index, number, this);
  }

  /** The way to it, from the documents of the stretch on. */
  get path(): Path {
    if (!this.list) return [this.index];
    return this.list.stretch === this.stretch ? [...this.list.path, 'items', this.index] : [0, this.index];
  }

  /** For people, such as `document 1, item 3`. */
  toString(): string {
    return this.list ? `${this.list.toString()}, item ${this.number + 1}` : `document ${this.number + 1}`;
  }
}
