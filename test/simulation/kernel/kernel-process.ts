/** A process of the simulated machine, as its kernel sees it. */
export interface KernelProcess {
  readonly pid: number;
  isAlive(): boolean;
  /** Runs something a little later, unless the process has ended by then. */
  soon(run: () => void): void;
  /** Sends it a signal, by its name. */
  raise(signal: string): void;
  /** It ends by itself. */
  exit(code: number): void;
}

/**
 * Asked before each call of the C library: it may end the process, which then does not make the call.
 * @param call the name of the call
 * @returns the error that the call fails with (an errno); 0 lets it through
 */
export type BeforeCall = (pid: number, call: string) => number;

/** What open descriptors that are no sockets do. Each call returns an errno, 0 for success. */
export interface FileLocks {
  /** `flock(2)`: EAGAIN where another holds the lock, EBADF for a descriptor that is not open. */
  flock(pid: number, descriptor: number, operation: number): number;
}

/** What sockets of other families than netlink do. Each call returns an errno, 0 for success. */
export interface OtherSockets {
  /** `getsockopt` of a raw IP socket: of iptables-legacy, what it tells of its tables. */
  getsockopt(domain: number, level: number, option: number, value: Buffer, length: Buffer): number;
  /** A datagram to a socket of the file system, or to an abstract one, whose name begins with a zero byte. */
  sendToPath(pid: number, path: string, message: Buffer): number;
}
