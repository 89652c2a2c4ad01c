import type { Life } from './life.js';

/** Ports for datagrams of each family (`udp4`, `udp6`), each of one owner. */
export class Ports {
  private readonly taken = new Set<string>();
  private next = 50_000;

  /** Returns the port, or undefined if it is taken. 0: any port. */
  take(family: string, port: number, owner: Life): number | undefined {
    const wanted = port === 0 ? this.next++ : port;
    if (this.taken.has(`${family} ${wanted}`)) return undefined;
    this.taken.add(`${family} ${wanted}`);
    owner.onEnd(() => this.release(family, wanted));
    return wanted;
  }

  /** How many are taken. */
  get count(): number {
    return this.taken.size;
  }

  isTaken(port: number): boolean {
    return ['udp4', 'udp6'].some((family) => this.taken.has(`${family} ${port}`));
  }

  release(family: string, port: number): void {
    this.taken.delete(`${family} ${port}`);
  }
}
