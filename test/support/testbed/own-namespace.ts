import koffi from 'koffi';
import { closeSync, openSync } from 'node:fs';

const CLONE_NEWNET = 0x40000000;
const libc = koffi.load('libc.so.6');
const unshare = libc.func('int unshare(int flags)') as (flags: number) => number;
const setns = libc.func('int setns(int fd, int type)') as (fd: number, type: number) => number;

/**
 * An empty network namespace that this process is in, until it goes back to the one before. The sockets that it opens meanwhile stay in
 * the namespace, and so do the programs that it starts. Namespaces nest: the last one is left first.
 */
export class OwnNamespace {
  private constructor(private readonly previous: number) {}

  static enter(): OwnNamespace {
    const previous = openSync('/proc/self/ns/net', 'r');
    if (unshare(CLONE_NEWNET) !== 0)
      throw new Error('cannot make a network namespace: run the tests as root');
    return new OwnNamespace(previous);
  }

  /** Returns to the namespace before. This one ends with its last socket. */
  leave(): void {
    if (setns(this.previous, CLONE_NEWNET) !== 0) throw new Error('cannot return to the network namespace');
    closeSync(this.previous);
  }
}
