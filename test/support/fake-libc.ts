import type { Libc } from '../../src/adapters/netlink/netlink-socket.js';

/** A C library whose socket gives scripted answers: each `recv` takes the next datagram or error number. */
export class FakeLibc implements Libc {
  readonly sent: Buffer[] = [];
  readonly sentInBackground: number[] = [];
  readonly options: [level: number, option: number, value: number][] = [];
  readonly filters: Buffer[] = [];
  readonly controls: [command: number, value: number][] = [];
  readonly closed: number[] = [];
  incoming: (Buffer | number)[] = [];
  sendErrors: number[] = [];
  refusedOptions: number[] = [];
  socketError = 0;
  bindError = 0;
  controlError = 0;
  filterError = 0;
  private error = 0;

  socket(): number {
    return this.outcome(this.socketError, 5);
  }
  bind(): number {
    return this.outcome(this.bindError, 0);
  }
  setsockopt(_fd: number, level: number, option: number, value: Buffer): number {
    if (this.refusedOptions.includes(option)) return this.outcome(1, 0);
    this.options.push([level, option, value.readInt32LE(0)]);
    return 0;
  }
  attachFilter(_fd: number, program: Buffer): number {
    this.filters.push(program);
    return this.outcome(this.filterError, 0);
  }
  fcntl(_fd: number, command: number, value: number): number {
    this.controls.push([command, value]);
    return this.outcome(this.controlError, 0);
  }
  send(_fd: number, bytes: Buffer, length: number): number {
    const error = this.sendErrors.shift() ?? 0;
    if (error === 0) this.sent.push(Buffer.from(bytes.subarray(0, length)));
    return this.outcome(error, length);
  }
  sendInBackground(fd: number, bytes: Buffer, length: number) {
    this.sentInBackground.push(length);
    const result = this.send(fd, bytes, length);
    return Promise.resolve({ result, errno: this.error });
  }
  recv(_fd: number, bytes: Buffer): number {
    const next = this.incoming.shift() ?? 11;
    if (typeof next === 'number') return this.outcome(next, 0);
    next.copy(bytes);
    return next.length;
  }
  recvInBackground(fd: number, bytes: Buffer) {
    const result = this.recv(fd, bytes);
    return Promise.resolve({ result, errno: result < 0 ? this.error : 0 });
  }
  close(fd: number): number {
    this.closed.push(fd);
    return 0;
  }
  errno(): number {
    return this.error;
  }

  private outcome(error: number, result: number): number {
    this.error = error;
    return error === 0 ? result : -1;
  }
}

/** An error message as the kernel sends it: without explanation. */
export function errorMessage(sequence: number, errno: number): Buffer {
  const bytes = Buffer.alloc(36);
  bytes.writeUInt32LE(36, 0);
  bytes.writeUInt16LE(2, 4);
  bytes.writeUInt16LE(0x100, 6);
  bytes.writeUInt32LE(sequence, 8);
  bytes.writeInt32LE(-errno, 16);
  return bytes;
}

/** What the kernel tells of a transaction of nf_tables, and who sent it. */
export function commitMessage(
  sequence: number,
  { generation, port = 0, process }: { generation: number; port?: number; process?: number },
): Buffer {
  const attribute = (type: number, value: number): Buffer => {
    const bytes = Buffer.alloc(8);
    bytes.writeUInt16LE(8, 0);
    bytes.writeUInt16LE(type, 2);
    bytes.writeUInt32BE(value, 4);
    return bytes;
  };
  const bytes = Buffer.concat([
    plainMessage(0x0a0f, sequence),
    attribute(1, generation),
    ...(process === undefined ? [] : [attribute(2, process)]),
  ]);
  bytes.writeUInt32LE(bytes.length, 0);
  bytes.writeUInt32LE(port, 12);
  return bytes;
}

/** Any other message without content. */
export function plainMessage(type: number, sequence: number): Buffer {
  const bytes = Buffer.alloc(20);
  bytes.writeUInt32LE(20, 0);
  bytes.writeUInt16LE(type, 4);
  bytes.writeUInt32LE(sequence, 8);
  return bytes;
}
