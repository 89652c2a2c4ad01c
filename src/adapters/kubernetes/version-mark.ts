import { isOlder } from './resource-version.js';

/**
 * The newest resourceVersion that the API server has shown of a resource, and whether there is a sign that the server does
 * not know it any more, because its storage was restored from a backup. Such a server answers a watch from that version and
 * sends nothing until it gets there again.
 */
export class VersionMark {
  /** How often the server was found to have gone back. */
  rewinds = 0;
  /** There was a sign that the server has gone back, and it is to be asked where it stands. */
  doubted = false;
  private newest = '';
  private doubtedAt = -Infinity;

  /** @param interval milliseconds between one doubt and the next, at least, so that the server is not asked more often */
  constructor(private readonly interval: number) {}

  /** The server has shown this version. Returns whether it is older than one that it has shown before. */
  saw(version: string): boolean {
    const older = isOlder(version, this.newest);
    if (!older) this.newest = version;
    return older;
  }

  /** There is a sign that the server has gone back. Returns whether it is to be asked. */
  doubt(now: number): boolean {
    if (now - this.doubtedAt < this.interval) return false;
    this.doubtedAt = now;
    this.doubted = true;
    return true;
  }

  /**
   * The storage stands at this version now. When the server has gone back, returns the version that it knew before. Otherwise
   * the storage may be ahead of what the server tells of this resource.
   */
  standsAt(version: string): string | undefined {
    const before = this.newest;
    this.doubted = false;
    if (!isOlder(version, before)) return undefined;
    this.newest = version;
    this.rewinds++;
    return before;
  }
}
