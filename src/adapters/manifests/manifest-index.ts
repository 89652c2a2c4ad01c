import type { ManifestObject } from './load-manifest.js';

/** What the receiver must be told when a file's contents are replaced. */
interface Difference {
  /** Added or changed. */
  readonly applied: readonly ManifestObject[];
  /** Keys that no file contains any longer. */
  readonly deleted: readonly string[];
  /** Files whose version of an object counts again. They must be read again, because contents are not kept. */
  readonly reread: ReadonlySet<string>;
  /** By other file: keys that both files contain, seen for the first time. */
  readonly duplicates: ReadonlyMap<string, readonly string[]>;
}

/** The files that contain an object, and the version that the receiver has. */
interface Entry {
  /** The file that counts: the last in order. */
  winner: string;
  /** The other files, if any. */
  shadowed?: string[];
  /** Digest of the delivered version; undefined while that is not the winner's. */
  digest: string | undefined;
}

/**
 * Remembers which file contains which objects, by key and digest only, so that memory does not grow with their size. An
 * object in several files is taken from the last one in order; when that file drops it, the next one counts again.
 */
export class ManifestIndex {
  private readonly entries = new Map<string, Entry>();
  private readonly keysOfFile = new Map<string, ReadonlySet<string>>();

  /** `compare` orders the files: the later one wins. */
  constructor(private readonly compare: (left: string, right: string) => number) {}

  /** Whether the file contained any object when it was last read. */
  holds(file: string): boolean {
    return (this.keysOfFile.get(file)?.size ?? 0) > 0;
  }

  /**
   * Replaces the objects of the file, except for the keys for which `keep` returns true: their objects exist but are invalid,
   * so the last valid version stays.
   */
  replace(file: string, objects: readonly ManifestObject[], keep: (key: string) => boolean): Difference {
    const before = this.keysOfFile.get(file) ?? new Set<string>();
    const applied: ManifestObject[] = [];
    const duplicates = new Map<string, string[]>();
    const keys = new Set<string>();
    for (const object of objects) {
      keys.add(object.key);
      const entry = this.hold(object.key, file, before.has(object.key) ? undefined : duplicates);
      if (entry.winner !== file || entry.digest === object.digest) continue;
      entry.digest = object.digest;
      applied.push(object);
    }
    for (const key of before) if (keep(key)) keys.add(key);
    const dropped = [...before].filter((key) => !keys.has(key));
    if (keys.size > 0) this.keysOfFile.set(file, keys);
    else this.keysOfFile.delete(file);
    return { applied, duplicates, ...this.release(file, dropped) };
  }

  /** Records that the file contains the key, and decides which file counts. */
  private hold(key: string, file: string, duplicates: Map<string, string[]> | undefined): Entry {
    const entry = this.entries.get(key);
    if (!entry) {
      const fresh: Entry = { winner: file, digest: undefined };
      this.entries.set(key, fresh);
      return fresh;
    }
    if (entry.winner === file || entry.shadowed?.includes(file)) return entry;
    const known = duplicates?.get(entry.winner);
    if (known) known.push(key);
    else duplicates?.set(entry.winner, [key]);
    if (this.compare(file, entry.winner) > 0) {
      entry.shadowed = [...(entry.shadowed ?? []), entry.winner];
      entry.winner = file;
    } else {
      entry.shadowed = [...(entry.shadowed ?? []), file];
    }
    return entry;
  }

  private release(file: string, keys: readonly string[]): Pick<Difference, 'deleted' | 'reread'> {
    const deleted: string[] = [];
    const reread = new Set<string>();
    for (const key of keys) {
      const entry = this.entries.get(key);
      if (!entry) continue;
      const others = (entry.shadowed ?? []).filter((holder) => holder !== file).sort(this.compare);
      if (entry.winner === file) {
        const next = others.pop();
        if (next === undefined) {
          this.entries.delete(key);
          deleted.push(key);
          continue;
        }
        entry.winner = next;
        entry.digest = undefined;
        reread.add(next);
      }
      if (others.length > 0) entry.shadowed = others;
      else delete entry.shadowed;
    }
    return { deleted, reread };
  }
}
