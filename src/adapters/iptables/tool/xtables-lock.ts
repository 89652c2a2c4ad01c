import { open, readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { cLibraryIfAny, type CLibrary } from '../../process/c-library.js';

const LOCK_EXCLUSIVE_NOW = 2 | 4;
const UNLOCK = 8;
const EAGAIN = 11;
/** Between tries, in milliseconds: the first, twice as long each time, up to the longest. */
const FIRST_PAUSE = 5;
const LONGEST_PAUSE = 50;

/**
 * The lock file that iptables-legacy takes for each run, so that programs do not overwrite each other's tables.
 *
 * The tools take it themselves, but do not report how long they waited. So we wait for our turn before we start
 * one: take the lock as soon as it is free, release it at once, and have the tool take it. Another program may be faster
 * in between; then the tool waits (`-w`), unmeasured.
 */
export class XtablesLock {
  /**
   * @param path by default where the tools look: XTABLES_LOCKFILE, or /run/xtables.lock
   * @param pause waits between tries, for so many milliseconds
   */
  constructor(
    readonly path: string = process.env.XTABLES_LOCKFILE ?? '/run/xtables.lock',
    private readonly calls: Pick<CLibrary, 'flock' | 'errno'> | undefined = cLibraryIfAny(),
    private readonly pause = (milliseconds: number, signal?: AbortSignal): Promise<unknown> =>
      setTimeout(milliseconds, undefined, { signal }),
  ) {}

  /**
   * Waits until the lock is free, for `limitSeconds` at most.
   * @returns whether it was free at last, and how long that took; undefined where locks cannot be tried
   */
  async waitUntilFree(
    limitSeconds: number,
    signal?: AbortSignal,
  ): Promise<{ readonly free: boolean; readonly seconds: number } | undefined> {
    if (!this.calls) return undefined;
    const file = await open(this.path, 'a+', 0o600).catch(() => undefined);
    if (!file) return undefined;
    const start = performance.now();
    const seconds = () => (performance.now() - start) / 1000;
    try {
      for (let tries = 1; ; tries++) {
        if (this.calls.flock(file.fd, LOCK_EXCLUSIVE_NOW) === 0) {
          this.calls.flock(file.fd, UNLOCK);
          return { free: true, seconds: tries === 1 ? 0 : seconds() };
        }
        if (this.calls.errno() !== EAGAIN) return undefined;
        if (seconds() >= limitSeconds) return { free: false, seconds: seconds() };
        await this.pause(Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (tries - 1)), signal);
      }
    } finally {
      await file.close();
    }
  }

  /**
   * Why the lock cannot be taken, or is not the one that the host's other programs take; undefined when it seems right. In
   * a container whose lock file lies in the container's own file system, each program locks a file of its own.
   */
  async problem(mountInfo = '/proc/self/mountinfo'): Promise<string | undefined> {
    try {
      await (await open(this.path, 'a+', 0o600)).close();
    } catch (error) {
      return `${this.path} cannot be opened, so iptables-legacy cannot write: mount the host's lock file, writable (${(error as Error).message})`;
    }
    const mounts = await readFile(mountInfo, 'utf8').catch(() => '');
    const type = fileSystemOf(this.path, mounts);
    if (type !== 'overlay') return undefined;
    return `${this.path} is the container's own file: mount the host's lock file, or rules that other programs write at the same time may be lost`;
  }
}

/** The file system type of the mount that covers a path (proc_pid_mountinfo(5)). */
function fileSystemOf(path: string, mounts: string): string | undefined {
  let longest = '';
  let type: string | undefined;
  for (const line of mounts.split('\n')) {
    const [before, after] = line.split(' - ');
    const point = before?.split(' ')[4];
    if (point === undefined || after === undefined || point.length < longest.length) continue;
    if (path !== point && !path.startsWith(point.endsWith('/') ? point : `${point}/`)) continue;
    longest = point;
    type = after.split(' ')[0];
  }
  return type;
}
