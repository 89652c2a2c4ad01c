import { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers';
import type { Life } from './life.js';
import type { Network } from './network.js';
import type { Planned } from './scheduler.js';
import { SimulatedTimer } from '../replaced/timer.js';

type Place = readonly [address: string, port: number];

/** How often the kernel asks an idle connection whether its other side is still there, as Node wants it, and how many milliseconds apart. */
const PROBES = 10;
const BETWEEN_PROBES = 1_000;

/** One side of a TCP connection: what `net.Socket` is to Node's HTTP, over the simulated network. */
export class SimulatedSocket extends Duplex {
  connecting = false;
  bytesRead = 0;
  bytesWritten = 0;
  timeout = 0;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteFamily = 'IPv4';
  private peer: SimulatedSocket | undefined;
  private waiting: (() => void) | undefined;
  private idle: SimulatedTimer | undefined;
  /** What happens to it, unless it is closed before. */
  private readonly coming = new Set<Planned>();
  private isSilent = false;
  /** After how many idle milliseconds the kernel asks. */
  private probedAfter: number | undefined;
  /** When the kernel heard of the other side last, if only that something has arrived there. */
  private lastHeard: number;
  /** Something was sent that did not arrive. */
  private isUnacknowledged = false;
  /** When the last that was sent arrives. */
  private lastArrival = 0;

  constructor(
    readonly owner: Life,
    { local, remote }: { readonly local: Place; readonly remote: Place },
    private readonly network: Network,
  ) {
    super({ allowHalfOpen: false });
    [this.localAddress, this.localPort] = local;
    [this.remoteAddress, this.remotePort] = remote;
    this.lastHeard = network.now;
    this.once('close', () => {
      this.idle?.close();
      for (const planned of this.coming) planned.cancel();
      this.network.forget(this);
    });
  }

  joins(other: SimulatedSocket): void {
    this.peer = other;
    other.peer = this;
    this.waiting?.();
    this.waiting = undefined;
  }

  /** Something happens to this side at a time, unless it is closed by then: what is on its way to a closed one is nobody's any more. */
  happensAt(time: number, run: () => void): void {
    if (this.destroyed) return;
    const planned = this.network.at(time, this, () => {
      this.coming.delete(planned);
      run();
    });
    this.coming.add(planned);
  }

  override _read(): void {
    // Data comes when it arrives.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.transmit(chunk, done);
  }

  /** What has gathered meanwhile goes out at once, as with the system call of this name. */
  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this.transmit(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: (error?: Error) => void): void {
    if (!this.peer) {
      this.waiting = () => this._final(done);
      return;
    }
    this.send((peer) => peer.push(null));
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const { peer } = this;
    if (peer) this.send(() => peer.isReset(error ? 'ECONNRESET' : undefined));
    done(error);
  }

  /** Ends without a word: the process that had it is gone, and its kernel says so to the other side. */
  vanish(): void {
    const { peer } = this;
    this.peer = undefined;
    this.network.forget(this);
    this.removeAllListeners();
    this.on('error', () => undefined);
    this.forgetParser();
    if (peer && !this.isSilent) this.network.carry(peer, this.lastArrival, () => peer.isReset('ECONNRESET'));
  }

  /** The connection breaks, for both sides, each of which hears of it in a turn of its own. */
  breakOff(): void {
    for (const side of [this, this.peer])
      if (side) this.network.carry(side, side.lastArrival, () => side.isReset('ECONNRESET'));
  }

  /** The way is gone and nobody says so: nothing that is sent arrives any more, and both sides stay open until their kernels find out. */
  goSilent(): void {
    for (const side of [this, this.peer]) {
      if (!side) continue;
      side.isSilent = true;
      side.askOnceIdle();
    }
  }

  resetAndDestroy(): this {
    return this.destroy(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  setTimeout(milliseconds: number, onTimeout?: () => void): this {
    this.timeout = milliseconds;
    this.idle?.close();
    if (onTimeout) this.once('timeout', onTimeout);
    this.idle =
      milliseconds > 0 ? new SimulatedTimer(() => this.emit('timeout'), milliseconds, false) : undefined;
    return this;
  }

  setKeepAlive(isProbed = false, after = 0): this {
    this.probedAfter = isProbed ? after : undefined;
    return this;
  }

  /** What a TLS socket tells of its peer: that it has no certificate. */
  getPeerCertificate(): object {
    return {};
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  private transmit(bytes: Buffer, done: () => void): void {
    if (!this.peer) {
      this.waiting = () => this.transmit(bytes, done);
      return;
    }
    this.bytesWritten += bytes.length;
    this.touch();
    const { pieces } = this.network.weather;
    for (let from = 0; from < bytes.length; from += pieces) {
      const piece = Buffer.from(bytes.subarray(from, from + pieces));
      this.send((peer) => peer.received(piece));
    }
    done();
  }

  private send(arrive: (peer: SimulatedSocket) => void): void {
    const { peer } = this;
    if (this.isSilent) this.isUnacknowledged = true;
    if (!peer || this.isSilent) return;
    this.lastArrival = this.network.carry(peer, this.lastArrival, () => {
      if (!peer.destroyed) arrive(peer);
    });
  }

  private received(piece: Buffer): void {
    this.bytesRead += piece.length;
    this.lastHeard = this.network.now;
    this.touch();
    this.push(piece);
  }

  private isReset(code: string | undefined): void {
    if (this.destroyed) return;
    if (code === undefined && !this.readableEnded) {
      this.push(null);
      return;
    }
    this.destroy(
      code === undefined ? undefined : Object.assign(new Error(`read ${code}`), { code, syscall: 'read' }),
    );
  }

  /** The kernel asks whether the other side is there, unless it waits for an acknowledgement: then it sends again, for a quarter of an hour. */
  private askOnceIdle(): void {
    const { lastHeard, probedAfter } = this;
    if (probedAfter === undefined) return;
    this.happensAt(lastHeard + probedAfter + PROBES * BETWEEN_PROBES, () => {
      if (this.isUnacknowledged) return;
      if (this.lastHeard === lastHeard) this.isReset('ETIMEDOUT');
      else this.askOnceIdle();
    });
  }

  /** Node keeps what parses HTTP, and by that its whole world, until it is closed; maybe it parses just now. */
  private forgetParser(): void {
    const { parser } = this as { readonly parser?: { close(): void } | null };
    if (parser) setImmediate(() => parser.close());
  }

  private touch(): void {
    if (!this.isSilent) this.lastHeard = this.network.now;
    if (this.timeout > 0) this.idle?.refresh();
  }
}
