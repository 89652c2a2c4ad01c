import { errorMessage } from '../../application/error-message.js';
import type { Logger } from '../../application/ports/logger.js';
import type { ServiceManager } from '../../application/ports/health.js';
import { loadCLibrary } from './c-library.js';

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_NOSIGNAL = 0x4000;

/**
 * systemd, by the protocol of sd_notify(3): each message is one datagram to the socket that it names in the environment. Node has no
 * datagrams over sockets of the file system, so the C library sends them. A failure is logged once.
 */
export class Systemd implements ServiceManager {
  readonly watchdogMilliseconds?: number;
  private failed = false;

  private constructor(
    private readonly address: Buffer,
    watchdogMilliseconds: number | undefined,
    private readonly logger: Logger,
  ) {
    if (watchdogMilliseconds !== undefined) this.watchdogMilliseconds = watchdogMilliseconds;
  }

  /** Undefined where systemd did not start this process, or does not request notifications. */
  static fromEnvironment(
    { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID }: NodeJS.ProcessEnv,
    logger: Logger,
  ): Systemd | undefined {
    if (!NOTIFY_SOCKET || !/^[/@]/.test(NOTIFY_SOCKET)) return undefined;
    const isWatched = WATCHDOG_USEC && (!WATCHDOG_PID || Number(WATCHDOG_PID) === process.pid);
    return new Systemd(
      socketAddress(NOTIFY_SOCKET),
      isWatched ? Number(WATCHDOG_USEC) / 1000 : undefined,
      logger,
    );
  }

  ready(): void {
    this.notify('READY=1');
  }

  alive(): void {
    if (this.watchdogMilliseconds !== undefined) this.notify('WATCHDOG=1');
  }

  status(text: string): void {
    this.notify(`STATUS=${text.replaceAll('\n', ' ')}`);
  }

  stopping(): void {
    this.notify('STOPPING=1');
  }

  private notify(message: string): void {
    if (this.failed) return;
    try {
      send(message, this.address);
    } catch (error) {
      this.failed = true;
      this.logger.warn({ reason: errorMessage(error) }, 'cannot notify systemd, which may restart the proxy');
    }
  }
}

function send(message: string, address: Buffer): void {
  const { socket, sendto, close, errno } = loadCLibrary();
  const descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) throw new Error(`no socket: errno ${errno()}`);
  try {
    const bytes = Buffer.from(message);
    if (sendto(descriptor, bytes, bytes.length, MSG_NOSIGNAL, address, address.length) < 0)
      throw new Error(`its socket takes no message: errno ${errno()}`);
  } finally {
    close(descriptor);
  }
}

/** `struct sockaddr_un`; a name that begins with `@` is abstract, which the kernel writes as a zero byte. */
function socketAddress(name: string): Buffer {
  const family = Buffer.alloc(2);
  family.writeUInt16LE(AF_UNIX);
  return Buffer.concat([family, Buffer.from(name.startsWith('@') ? `\0${name.slice(1)}` : name)]);
}
