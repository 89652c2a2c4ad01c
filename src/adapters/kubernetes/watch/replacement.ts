import type { Logger } from '../../../application/ports/logger.js';
import type { UnreadableObject } from '../encoding/encoding.js';
import { keyOf, type KnownObjects } from './known-objects.js';

/**
 * A whole list of a resource while it arrives. What was known and is not in it is deleted when it ends. It keeps nothing of the
 * list, only the keys of what has not come yet: none of the first list.
 */
export class Replacement {
  /** Known when the list began, and not in it so far. */
  private missing: Set<string>;
  /** An unreadable object without a name may be any of those that are known. */
  private namesEverything = true;

  constructor(
    private readonly known: KnownObjects,
    private readonly logger: Logger,
  ) {
    this.missing = new Set(known.keys());
  }

  add(object: unknown): void {
    const key = this.known.apply(object);
    if (key !== undefined) this.missing.delete(key);
  }

  /** The object was deleted while the list arrived. */
  remove(object: unknown): void {
    this.known.delete(object);
  }

  /** The list contains an object that cannot be decoded. Its last version stays. */
  addUnreadable({ partial, problem }: UnreadableObject): void {
    const key = keyOf(partial);
    if (key === undefined) this.namesEverything = false;
    else this.missing.delete(key);
    this.logger.warn(
      { object: key ?? 'without a readable name', problem },
      'the API server sent an unreadable object; ignored; keeping the last valid version',
    );
  }

  /** Everything comes again. */
  restart(): void {
    this.logger.debug({}, 'the list expired between pages; listing again without pages');
    this.missing = new Set(this.known.keys());
    this.namesEverything = true;
  }

  /** Everything has come. */
  end(): void {
    if (this.namesEverything) for (const key of this.missing) this.known.remove(key);
  }
}
