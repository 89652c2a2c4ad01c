/**
 * How much this process computes between two turns of its event loop: in its own processor time, which does not pass while
 * other programs have the processor. A piece of work that gives turns to others has a small `longest` beside its `total`,
 * on machines of any speed.
 */
export class WorkBetweenTurns {
  private readonly begun = spent();
  private longest = 0;
  private last = this.begun;
  private readonly timer = setInterval(() => this.note(), 1);

  /** Ends the measurement. In milliseconds. */
  end(): { readonly longest: number; readonly total: number } {
    clearInterval(this.timer);
    this.note();
    return { longest: this.longest, total: this.last - this.begun };
  }

  private note(): void {
    const now = spent();
    this.longest = Math.max(this.longest, now - this.last);
    this.last = now;
  }
}

function spent(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
