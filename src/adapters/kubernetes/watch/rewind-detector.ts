const WHOLE_NUMBER = /^[1-9][0-9]*$/;

/**
 * Detects that the API server's storage was restored from a backup. Such a server accepts a watch from a resourceVersion that
 * it no longer has, and sends nothing until it reaches that version again.
 */
export class RewindDetector {
  /** How many restores were found. */
  rewinds = 0;
  /** Something suggests a restore: ask the storage for its version and `confirm` it. */
  suspected = false;
  private newest = '';
  private suspectedAt = -Infinity;

  /** @param interval minimum milliseconds between two suspicions, so that the server is not asked more often */
  constructor(private readonly interval: number) {}

  /** The server has sent this version. Returns whether it is older than one sent before. */
  observe(version: string): boolean {
    const older = isOlder(version, this.newest);
    if (!older) this.newest = version;
    return older;
  }

  /** Something suggests a restore. Returns false when it is too soon to ask again. */
  suspect(now: number): boolean {
    if (now - this.suspectedAt < this.interval) return false;
    this.suspectedAt = now;
    this.suspected = true;
    return true;
  }

  /**
   * The storage is at this version now; it may be ahead of what the server has sent. Returns the newest version before a
   * restore, undefined when there was none.
   */
  confirm(version: string): string | undefined {
    const before = this.newest;
    this.suspected = false;
    if (!isOlder(version, before)) return undefined;
    this.newest = version;
    this.rewinds++;
    return before;
  }
}

/**
 * Whether a resourceVersion is older than another. Since Kubernetes 1.35 they compare as whole numbers of any length. Versions
 * in any other form have no known order, so neither is older.
 */
export function isOlder(version: string, other: string): boolean {
  const less = version.length === other.length ? version < other : version.length < other.length;
  return less && WHOLE_NUMBER.test(version) && WHOLE_NUMBER.test(other);
}
