/** How long a file must be empty to be meant so. */
const MEANT_AFTER_MILLISECONDS = 60_000;

/** Any line that is neither blank nor a comment nor a separator of documents. */
const CONTENT = /^[ \t]*[^\s#-]/m;

/** Whether a manifest has nothing but blanks, comments and separators: as when a writer truncates it, and then fails. */
export function holdsNothing(text: string): boolean {
  return !CONTENT.test(text);
}

/** Files that held objects, or may have, and were found empty: since when. */
export class EmptiedFiles {
  private readonly since = new Map<string, number>();

  /** @param now milliseconds since any time */
  constructor(private readonly now: () => number) {}

  /** Whether the file, found empty, has been so long enough. */
  isMeant(file: string): boolean {
    const since = this.since.get(file) ?? this.now();
    this.since.set(file, since);
    const meant = this.now() - since >= MEANT_AFTER_MILLISECONDS;
    if (meant) this.since.delete(file);
    return meant;
  }

  /** Whether it was found empty, and not long enough to be meant so. */
  isKnown(file: string): boolean {
    return this.since.has(file);
  }

  /** The file is not empty, or gone. */
  forget(file: string): void {
    this.since.delete(file);
  }
}
