import { refuse, type Refusal } from './requests.js';

interface Planned {
  readonly errno: number;
  left: number;
}

/** Requests that the kernel will refuse although nothing is wrong with them. */
export class Refusals {
  private readonly planned: Planned[] = [];

  add(errno: number, count: number): void {
    this.planned.push({ errno, left: count });
  }

  /** To be asked once for each request. */
  next(): Refusal | undefined {
    const [planned] = this.planned;
    if (!planned) return undefined;
    if (--planned.left <= 0) this.planned.shift();
    return refuse(planned.errno);
  }

  clear(): void {
    this.planned.length = 0;
  }
}
