const WHOLE_NUMBER = /^[1-9][0-9]*$/;

/**
 * The newest version of a resource. An API server whose storage was restored from a backup accepts a watch from a version that it
 * no longer has, and sends nothing until it reaches that version again.
 */
export class RewindDetector {
  /** How many restores were found. */
  rewinds = 0;
  private newestSent = '';
  private suspectedAt = -Infinity;

  /** @param interval minimum milliseconds between two suspicions, so that the server is not asked more often */
  constructor(private readonly interval: number) {}

  /** The newest version that the server has sent; "" before the first, and after a restore. */
  get newest(): string {
    return this.newestSent;
  }

  /** The server has sent this version. Returns whether it is older than one sent before. */
  observe(version: string): boolean {
    const older = isOlder(version, this.newestSent);
    if (!older) this.newestSent = version;
    return older;
  }

  /** A version is older than one sent before. Returns false when it is too soon to ask for the storage's again. */
  suspect(now: number): boolean {
    if (now - this.suspectedAt < this.interval) return false;
    this.suspectedAt = now;
    return true;
  }

  /** The storage was restored: versions begin anew. */
  rewound(): void {
    this.newestSent = '';
    this.rewinds++;
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
