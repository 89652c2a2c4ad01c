import type { IncomingMessage } from 'node:http';
import { finished, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Clock, Timer } from '../../../application/ports/clock.js';
import { ApiSilenceError, asConnectionError } from './api-error.js';

/** Bytes that are decompressed at a time. */
const DECOMPRESSED_CHUNK = 64 * 1024;

/** Takes a piece of a body. After it has returned true, the next pieces wait. */
export type TakePiece = (piece: Buffer) => boolean | void;

interface Reader {
  readonly take: TakePiece;
  readonly resolve: (isLeft: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The body of a response, decompressed. Each piece is passed on in the turn of the event loop in which it arrives: between
 * changes of the cluster everything is cold, and an async iterator over the stream costs a change 0.07 ms.
 */
export class ResponseBody {
  private readonly stream: Readable;
  private reader: Reader | undefined;
  private flows = false;
  private heardAt = 0;
  /** The end, and what it was caused by. */
  private ended: { readonly error: Error | undefined } | undefined;

  /** @param name names the request in errors */
  constructor(
    private readonly response: IncomingMessage,
    private readonly name: string,
    private readonly clock: Clock,
  ) {
    this.stream = decompressed(response);
    finished(this.stream, { writable: false }, (error) => this.end(error ?? undefined));
  }

  /**
   * Passes on the pieces as they arrive, until one is taken with true: the next call goes on after it. Resolves with false at the
   * end of the body. Rejects with ApiConnectionError when the connection breaks, with ApiSilenceError after `silence`
   * milliseconds without data, and with what `take` throws, which closes the connection. One call at a time.
   */
  async read(silence: number, take: TakePiece): Promise<boolean> {
    this.heardAt = this.clock.steady();
    let timer: Timer;
    const check = (): void => {
      const left = this.heardAt + silence - this.clock.steady();
      if (left > 0) timer = this.clock.after(left, check);
      else this.response.destroy(new ApiSilenceError(this.name, silence));
    };
    timer = this.clock.after(silence, check);
    try {
      return await new Promise((resolve, reject) => {
        this.reader = { take, resolve, reject };
        if (this.ended) this.settle(this.ended.error);
        else this.flow();
      });
    } finally {
      timer.cancel();
    }
  }

  /** Closes the connection, unless the body has ended. Idempotent. */
  close(): void {
    this.response.destroy();
  }

  private flow(): void {
    if (this.flows) this.stream.resume();
    else this.stream.on('data', (piece: Buffer) => this.passOn(piece));
    this.flows = true;
  }

  private passOn(piece: Buffer): void {
    const { reader } = this;
    if (!reader) return;
    this.heardAt = this.clock.steady();
    try {
      if (reader.take(piece) !== true) return;
      this.stream.pause();
      reader.resolve(true);
    } catch (error) {
      reader.reject(error);
      this.close();
    }
    this.reader = undefined;
  }

  private end(error: Error | undefined): void {
    this.ended = { error: error && asConnectionError(error, this.name) };
    this.settle(this.ended.error);
  }

  private settle(error: Error | undefined): void {
    if (error) this.reader?.reject(error);
    else this.reader?.resolve(false);
    this.reader = undefined;
  }
}

function decompressed(response: IncomingMessage): Readable {
  if (response.headers['content-encoding'] !== 'gzip') return response;
  // An error of either reaches whoever reads, through the last stream.
  return pipeline(response, createGunzip({ chunkSize: DECOMPRESSED_CHUNK }), () => {});
}
