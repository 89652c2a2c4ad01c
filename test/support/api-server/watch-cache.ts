import type { ApiObject, Backup, Change, ObjectStore } from './object-store.js';

/** What a server reads watches and most lists from: its own copy of the storage, which may be behind. */
export class WatchCache {
  private behindAt: Backup | undefined;
  private readonly listeners = new Set<(change: Change) => void>();

  constructor(private readonly store: ObjectStore) {
    store.subscribe((change) => {
      if (!this.behindAt) this.tell(change);
    });
  }

  get version(): number {
    return this.behindAt?.version ?? this.store.version;
  }

  get isBehind(): boolean {
    return this.behindAt !== undefined;
  }

  /** In the order of their keys. */
  list(collection: string): ApiObject[] {
    return this.store.list(collection, this.behindAt);
  }

  /** Changes after that version, oldest first. */
  since(version: number): Change[] {
    return this.store.since(version).filter((change) => change.version <= this.version);
  }

  subscribe(listener: (change: Change) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** It has come as far as this. */
  fallBehind(to: Backup): void {
    this.behindAt = to;
  }

  /** It hears of all that it has missed, in order. Returns whether nothing of that was forgotten. */
  catchUp(): boolean {
    const { behindAt, store } = this;
    this.behindAt = undefined;
    if (!behindAt) return true;
    for (const change of store.since(behindAt.version)) this.tell(change);
    return store.compacted <= behindAt.version;
  }

  private tell(change: Change): void {
    for (const listener of [...this.listeners]) listener(change);
  }
}
