import { systemError } from './files.js';
import type { Life } from './life.js';

/** Open files of the simulated machine. Their numbers are far above those of sockets. */
export class Descriptors {
  private readonly paths = new Map<number, string>();
  private next = 100_000;

  /** @param owner with which it is closed at the latest */
  open(path: string, owner: Life): number {
    const descriptor = this.next++;
    this.paths.set(descriptor, path);
    owner.onEnd(() => this.close(descriptor));
    return descriptor;
  }

  /** The paths of those that are open. */
  get opened(): readonly string[] {
    return [...this.paths.values()];
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
