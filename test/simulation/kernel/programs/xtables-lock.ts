import { constants } from 'node:os';

/**
 * A lock file that programs of one machine lock with `flock`. Whoever holds it is an object: an open file, or a program that runs.
 */
export class XtablesLock {
  private holder: object | undefined;
  private readonly waiting = new Set<() => void>();

  get isFree(): boolean {
    return this.holder === undefined;
  }

  /** Takes it, if it is free or held by the same already. */
  take(holder: object): boolean {
    if (this.holder !== undefined && this.holder !== holder) return false;
    this.holder = holder;
    return true;
  }

  /** Does nothing unless this one holds it. */
  release(holder: object): void {
    if (this.holder !== holder) return;
    this.holder = undefined;
    const [next] = this.waiting;
    if (!next) return;
    this.waiting.delete(next);
    next();
  }

  /** Calls once it is free; the first who waits is the first who is called. Returns what ends the waiting. */
  whenFree(call: () => void): () => void {
    this.waiting.add(call);
    return () => this.waiting.delete(call);
  }
}

const LOCK_EXCLUSIVE = 2;
const LOCK_NOT_WAITING = 4;
const UNLOCK = 8;
const { EAGAIN, EBADF, EINVAL } = constants.errno;

/** `flock` on files of the simulated machine, which its programs lock, too. A process that ends gives up its locks. */
export class LockFiles {
  /** Who holds a lock: an open file of a process. */
  private readonly holders = new Map<string, object>();

  /**
   * @param lockOf the lock of the file that a descriptor is open for; undefined for one that is not open, null for a file that
   *   nobody else locks
   */
  constructor(private readonly lockOf: (pid: number, descriptor: number) => XtablesLock | null | undefined) {}

  /** Never waits: who asks for it waits by asking again. */
  flock(pid: number, descriptor: number, operation: number): number {
    const lock = this.lockOf(pid, descriptor);
    if (lock === undefined) return EBADF;
    if (lock === null) return 0;
    const name = `${pid} ${descriptor}`;
    if (operation === UNLOCK) {
      this.release(name, lock);
      return 0;
    }
    if (operation !== (LOCK_EXCLUSIVE | LOCK_NOT_WAITING)) return EINVAL;
    const holder = this.holders.get(name) ?? {};
    if (!lock.take(holder)) return EAGAIN;
    this.holders.set(name, holder);
    return 0;
  }

  /** The file was closed, or its process has ended. */
  closed(pid: number, descriptor: number, lock: XtablesLock): void {
    this.release(`${pid} ${descriptor}`, lock);
  }

  /** All files of a process were closed, for it has ended. */
  ended(pid: number, lock: XtablesLock): void {
    for (const name of [...this.holders.keys()]) if (name.startsWith(`${pid} `)) this.release(name, lock);
  }

  private release(name: string, lock: XtablesLock): void {
    const holder = this.holders.get(name);
    if (holder) lock.release(holder);
    this.holders.delete(name);
  }
}
