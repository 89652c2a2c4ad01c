import type { Logger } from '../../../application/ports/logger.js';
import type { UnreadableObject } from '../encoding/encoding.js';
import { keyOf, type KnownObjects } from './known-objects.js';

/** A whole list of a resource while it arrives. What is known and not in it is deleted when it ends. */
export class Replacement {
  private readonly seen = new Set<string>();
  /** An unreadable object without a name may be any of those that are known. */
  private namesEverything = true;

  constructor(
    private readonly known: KnownObjects,
    private readonly logger: Logger,
  ) {}

  add(object: unknown): void {
    const key = this.known.apply(object);
    if (key !== undefined) this.seen.add(key);
  }

  /** The object was deleted while the list arrived. */
  remove(object: unknown): void {
    const key = keyOf(object);
    if (key !== undefined) this.seen.delete(key);
    this.known.delete(object);
  }

  /** The list contains an object that cannot be decoded. Its last version stays. */
  addUnreadable({ partial, problem }: UnreadableObject): void {
    const key = keyOf(partial);
    if (key === undefined) this.namesEverything = false;
    else this.seen.add(key);
    this.logger.warn(
      { object: key ?? 'without a readable name', problem },
      'the API server sent an unreadable object; ignored; keeping the last valid version',
    );
  }

  /** Everything comes again. */
  restart(): void {
    this.seen.clear();
    this.namesEverything = true;
  }

  /** Everything has come. */
  end(): void {
    if (this.namesEverything) this.known.retain(this.seen);
  }
}
