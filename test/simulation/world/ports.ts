import type { Life } from './life.js';

/** Ports for datagrams, each of one owner. */
export class Ports {
  private readonly taken = new Set<number>();
  private next = 50_000;

  /** Returns the port, or undefined if it is taken. 0: any port. */
  take(port: number, owner: Life): number | undefined {
    const wanted = port === 0 ? this.next++ : port;
    if (this.taken.has(wanted)) return undefined;
    this.taken.add(wanted);
    owner.onEnd(() => this.release(wanted));
    return wanted;
  }

  isTaken(port: number): boolean {
    return this.taken.has(port);
  }

  release(port: number): void {
    this.taken.delete(port);
  }
}
