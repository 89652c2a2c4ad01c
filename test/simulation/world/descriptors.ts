import { systemError } from './files.js';

/** Open files of the simulated machine. Their numbers are far above those of sockets. */
export class Descriptors {
  private readonly paths = new Map<number, string>();
  private next = 100_000;

  open(path: string): number {
    const descriptor = this.next++;
    this.paths.set(descriptor, path);
    return descriptor;
  }

  /** How many are open. */
  get count(): number {
    return this.paths.size;
  }

  pathOf(descriptor: number): string {
    const path = this.paths.get(descriptor);
    if (path === undefined) throw systemError('EBADF', 'fstat', String(descriptor));
    return path;
  }

  close(descriptor: number): void {
    this.paths.delete(descriptor);
  }
}
