import { constants, endianness } from 'node:os';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';
import { errorMessage } from '../../application/error-message.js';
import { loadCLibrary, type CLibrary } from '../process/c-library.js';
import {
  EAGAIN,
  EINTR,
  EMSGSIZE,
  ENOBUFS,
  EPERM,
  NetlinkPermissionError,
  NetlinkProtocolError,
  NetlinkSystemError,
  NetlinkUnavailableError,
} from './errors.js';
import { readMessages, readReply, type KernelReply, type NetlinkMessage } from './message-reader.js';

const AF_NETLINK = 16;
const SOCK_RAW_CLOEXEC = 3 | 0o2000000;
const SOL_SOCKET = 1;
const SO_SNDBUF = 7;
const SO_RCVBUF = 8;
const SO_SNDBUFFORCE = 32;
const SO_RCVBUFFORCE = 33;
const SOL_NETLINK = 270;
const NETLINK_CAP_ACK = 10;
const NETLINK_EXT_ACK = 11;
const MSG_TRUNC = 0x20;
const MSG_DONTWAIT = 0x40;
const F_SETFL = 4;
const F_SETOWN = 8;
const F_SETSIG = 10;
const O_NONBLOCK = 0o4000;
const O_ASYNC = 0o20000;

const ARRIVAL = 'SIGURG';

/** The kernel fills at most 32 KiB into a datagram of a dump. */
const RECEIVE_LENGTH = 64 * 1024;

/** Requests of at least this size are sent on another thread: the kernel works on them for milliseconds. */
const BACKGROUND_LENGTH = 64 * 1024;

/** The part of the send buffer that the kernel uses itself, rounded up generously. */
const SEND_MARGIN = 4096;

export interface NetlinkSocketOptions {
  /** Bytes for unread replies. Each takes about 830 of them, independent of its size. */
  readonly receiveBuffer?: number;
  /** Bits of the multicast groups whose notifications to receive. */
  readonly groups?: number;
  readonly libc?: Libc;
}

/** The kernel's replies, until there are no more. */
interface Replies {
  readonly replies: readonly KernelReply[];
  /** Whether some were lost because they did not fit into the receive buffer. */
  readonly lost: boolean;
}

/**
 * A netlink socket in the network namespace of this process. The kernel processes a request while it is being sent:
 * when `send` is done, all replies are ready to be read, so nothing here ever waits for input. One request at a time.
 */
export class NetlinkSocket {
  private readonly buffer = Buffer.allocUnsafeSlow(RECEIVE_LENGTH);
  private sendBuffer = 0;
  private announced: (() => void) | undefined;

  private constructor(
    private readonly libc: Libc,
    private fd: number,
  ) {}

  /**
   * Opens a socket of the protocol (NETLINK_…). Throws NetlinkUnavailableError if the C library cannot be called,
   * NetlinkSystemError if the kernel rejects.
   */
  static open(
    protocol: number,
    { receiveBuffer = 1024 * 1024, groups = 0, libc = loadLibc() }: NetlinkSocketOptions = {},
  ) {
    const fd = libc.socket(AF_NETLINK, SOCK_RAW_CLOEXEC, protocol);
    if (fd < 0) throw new NetlinkSystemError('socket', libc.errno());
    const socket = new NetlinkSocket(libc, fd);
    try {
      const address = Buffer.alloc(12);
      address.writeUInt16LE(AF_NETLINK, 0);
      address.writeUInt32LE(groups, 8);
      if (libc.bind(fd, address, address.length) < 0) throw new NetlinkSystemError('bind', libc.errno());
      // Without these two, errors are still reported, but without details.
      socket.setOption(SOL_NETLINK, NETLINK_EXT_ACK, 1);
      socket.setOption(SOL_NETLINK, NETLINK_CAP_ACK, 1);
      socket.setBuffer(SO_RCVBUFFORCE, SO_RCVBUF, receiveBuffer);
    } catch (error) {
      socket.close();
      throw error;
    }
    return socket;
  }

  /**
   * Sends a request: one message, or several that belong together. The buffer must not change until it is done.
   * Large ones, and those that the caller marks as `laborious` for the kernel, do not block this thread.
   */
  async send(bytes: Buffer, length: number, laborious = false): Promise<void> {
    this.makeRoom(length);
    for (;;) {
      const { result: sent, errno } =
        length < BACKGROUND_LENGTH && !laborious
          ? this.sendNow(bytes, length)
          : await this.libc.sendInBackground(this.fd, bytes, length, 0);
      if (sent === length) return;
      if (sent >= 0) throw new NetlinkProtocolError(`only ${sent} of ${length} bytes were sent`);
      if (errno === EINTR) continue;
      if (errno === EPERM) throw new NetlinkPermissionError('send on a netlink socket');
      const tooLong = `${length} bytes; CAP_NET_ADMIN is needed for larger send buffers`;
      throw new NetlinkSystemError('send', errno, errno === EMSGSIZE ? tooLong : '');
    }
  }

  /** Reads error messages and acknowledgements until there are no more. */
  collectReplies(): Replies {
    const replies: KernelReply[] = [];
    const lost = this.collectMessages((message) => {
      const reply = readReply(message);
      if (reply) replies.push(reply);
    });
    return { replies, lost };
  }

  /** Passes on all unread messages. Returns whether some were lost for lack of room. */
  collectMessages(onMessage: (message: NetlinkMessage) => void): boolean {
    let lost = false;
    for (;;) {
      const length = this.receive();
      if (length === 'nothing') return lost;
      if (length === 'lost') lost = true;
      else for (const message of readMessages(this.buffer, length)) onMessage(message);
    }
  }

  /**
   * Calls back whenever messages have arrived, from now on until closed. The kernel announces them by a signal (fcntl(2)), so
   * nothing has to poll, and an idle process sleeps. It is SIGURG, which a process that does not listen ignores, and not the
   * usual SIGIO, at which libraries end child processes. Worker threads get no signals, so there nothing is announced. To be
   * called once.
   */
  announce(onArrival: () => void): void {
    if (!isMainThread) return;
    process.on(ARRIVAL, onArrival);
    this.announced = onArrival;
    const { libc, fd } = this;
    const settings = [
      [F_SETOWN, process.pid],
      [F_SETSIG, constants.signals[ARRIVAL]],
      [F_SETFL, O_ASYNC | O_NONBLOCK],
    ] as const;
    for (const [command, value] of settings)
      if (libc.fcntl(fd, command, value) < 0) throw new NetlinkSystemError('fcntl', libc.errno());
  }

  /**
   * Reads the answer to a request that was just sent: passes each message on, and returns at the end of the dump, at an
   * error, or after one message if `single`. Yields to the event loop between datagrams. Skips messages with another
   * sequence number, which belong to an earlier request.
   */
  async receiveAnswer(
    sequence: number,
    single: boolean,
    onMessage: (message: NetlinkMessage) => void,
  ): Promise<KernelReply> {
    for (;;) {
      const reply = this.replyIn(this.receive(), sequence, onMessage, single);
      if (reply) return reply;
      await yieldToEventLoop();
    }
  }

  /**
   * Sends a small request and reads the whole answer immediately, on this thread, without yielding to the event loop: for
   * short answers that are needed before anything else can be done. Otherwise like `receiveAnswer`.
   */
  exchange(
    bytes: Buffer,
    length: number,
    sequence: number,
    single: boolean,
    onMessage: (message: NetlinkMessage) => void,
  ): KernelReply {
    const { result: sent, errno } = this.sendNow(bytes, length);
    if (sent !== length) throw new NetlinkSystemError('send', errno);
    for (;;) {
      const reply = this.replyIn(this.receive(), sequence, onMessage, single);
      if (reply) return reply;
    }
  }

  /**
   * Reads the answer to a dump for which the kernel has to search: it searches while a datagram is read, so this
   * happens on another thread. Otherwise like `receiveAnswer`.
   * @param afterDatagram awaited before the next datagram is read
   */
  async receiveDump(
    sequence: number,
    onMessage: (message: NetlinkMessage) => void,
    afterDatagram: () => Promise<void>,
  ): Promise<KernelReply> {
    for (;;) {
      const { result: received, errno } = await this.libc.recvInBackground(
        this.fd,
        this.buffer,
        this.buffer.length,
        MSG_DONTWAIT | MSG_TRUNC,
      );
      const length = this.received(received, errno);
      if (length === 'again') continue;
      const reply = this.replyIn(length, sequence, onMessage);
      if (reply) return reply;
      await afterDatagram();
    }
  }

  /** From now on the kernel passes only messages that this program (`assemble`) lets through. Replaces the one before. */
  filter(program: Buffer): void {
    if (this.libc.attachFilter(this.fd, program) < 0)
      throw new NetlinkSystemError('setsockopt SO_ATTACH_FILTER', this.libc.errno());
  }

  /** Idempotent. */
  close(): void {
    if (this.fd >= 0) this.libc.close(this.fd);
    this.fd = -1;
    if (this.announced) process.off(ARRIVAL, this.announced);
  }

  /**
   * Passes on the messages of a datagram that answer the request, up to the reply that ends the answer, if the datagram
   * contains it.
   */
  private replyIn(
    length: number | 'nothing' | 'lost',
    sequence: number,
    onMessage: (message: NetlinkMessage) => void,
    single = false,
  ): KernelReply | undefined {
    if (length === 'nothing') throw new NetlinkProtocolError('the answer ended early');
    if (length === 'lost') throw new NetlinkSystemError('recv', ENOBUFS, 'part of the answer was lost');
    for (const message of readMessages(this.buffer, length)) {
      if (message.sequence !== sequence) continue;
      const reply = readReply(message);
      if (reply) return reply;
      onMessage(message);
      if (single) return { sequence, errno: 0 };
    }
    return undefined;
  }

  private sendNow(bytes: Buffer, length: number): { result: number; errno: number } {
    const result = this.libc.send(this.fd, bytes, length, 0);
    return { result, errno: result < 0 ? this.libc.errno() : 0 };
  }

  /** Reads one datagram into the buffer, if any. */
  private receive(): number | 'nothing' | 'lost' {
    for (;;) {
      const length = this.libc.recv(this.fd, this.buffer, this.buffer.length, MSG_DONTWAIT | MSG_TRUNC);
      const outcome = this.received(length, length < 0 ? this.libc.errno() : 0);
      if (outcome !== 'again') return outcome;
    }
  }

  /** The meaning of the result of a `recv`. */
  private received(length: number, errno: number): number | 'nothing' | 'lost' | 'again' {
    if (length > this.buffer.length)
      throw new NetlinkProtocolError(`a datagram of ${length} bytes was cut off`);
    if (length >= 0) return length;
    if (errno === EINTR) return 'again';
    if (errno === EAGAIN) return 'nothing';
    if (errno === ENOBUFS) return 'lost';
    throw new NetlinkSystemError('recv', errno);
  }

  private makeRoom(length: number): void {
    const needed = length + SEND_MARGIN;
    if (needed <= this.sendBuffer || needed <= 64 * 1024) return;
    this.setBuffer(SO_SNDBUFFORCE, SO_SNDBUF, needed);
    this.sendBuffer = needed;
  }

  /** The option that ignores the system's limits needs CAP_NET_ADMIN; the other one sets what the limits allow. */
  private setBuffer(force: number, ordinary: number, size: number): void {
    if (!this.setOption(SOL_SOCKET, force, size)) this.setOption(SOL_SOCKET, ordinary, size);
  }

  private setOption(level: number, option: number, value: number): boolean {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value);
    return this.libc.setsockopt(this.fd, level, option, bytes, bytes.length) === 0;
  }
}

/** The calls that a netlink socket needs. */
export type Libc = Omit<CLibrary, 'getsockopt' | 'flock' | 'sendto' | 'setrlimit' | 'exit'>;

/** Throws NetlinkUnavailableError. */
export function loadLibc(): Libc {
  if (process.platform !== 'linux')
    throw new NetlinkUnavailableError(`this is ${process.platform}, not Linux`);
  if (endianness() !== 'LE') throw new NetlinkUnavailableError('only little-endian machines are supported');
  try {
    return loadCLibrary();
  } catch (error) {
    throw new NetlinkUnavailableError(errorMessage(error), { cause: error });
  }
}
