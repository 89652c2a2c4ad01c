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
