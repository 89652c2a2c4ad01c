/** One HTTP request with its response, and the time limits of both. */

import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { finished, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Clock, Timer } from '../../../application/ports/clock.js';
import { readStatus, type ApiStatus } from '../encoding/encoding.js';
import { encodingOf } from '../encoding/media-types.js';
import {
  ApiConnectionError,
  ApiError,
  asConnectionError,
  ApiSilenceError,
  retryAfterOf,
} from './api-error.js';

/** Milliseconds. */
export const defaultApiTimeouts = {
  /** Until the connection is established, TLS included. */
  connect: 10_000,
  /** From then until the response begins. */
  response: 60_000,
  /** Without any data of the response's body; a watch has its own limit. */
  silence: 60_000,
  /** An idle connection is probed by TCP after this. */
  keepAlive: 30_000,
  /** Tokens, certificates and the kubeconfig are read again after this. */
  credentials: 60_000,
  /** An exec plugin without a result after this is killed. */
  plugin: 30_000,
};

export type ApiTimeouts = Readonly<typeof defaultApiTimeouts>;

/** Takes a piece of a body. After it has returned true, the next pieces wait. */
type TakePiece = (piece: Buffer) => boolean | void;

const MAXIMUM_ERROR_BODY = 64 * 1024;

/** Informational answers (1xx) before the response. API servers send none; a few are no mistake of a proxy on the way. */
const MAXIMUM_INFORMATION = 5;

/** One HTTP request and its response, with time limits. */
export class HttpExchange {
  constructor(
    /** Names the request in errors. */
    private readonly name: string,
    private readonly timeouts: ApiTimeouts,
    private readonly clock: Clock,
    /** Called with each address to which a connection is opened. */
    private readonly connecting?: (address: string, port: number) => void,
  ) {}

  /** Resolves when the response begins. Throws ApiConnectionError, and the signal's reason when it is aborted. */
  send(sent: ClientRequest, body: string | undefined, signal: AbortSignal): Promise<IncomingMessage> {
    let timer: Timer | undefined;
    let giveUp: (() => void) | undefined;
    return new Promise<IncomingMessage>((resolve, reject) => {
      // A request that waits for its proxy has no socket yet, and emits nothing when destroyed.
      const end = (problem: string): void => {
        const error = new ApiConnectionError(this.name, problem);
        sent.destroy(error);
        reject(error);
      };
      const limit = (milliseconds: number, what: string): Timer =>
        this.clock.after(milliseconds, () => end(`${what} within ${milliseconds} ms`));
      giveUp = () => reject(signal.reason as Error);
      signal.addEventListener('abort', giveUp, { once: true });
      timer = limit(this.timeouts.connect, 'no connection');
      const connected = (): void => {
        timer?.cancel();
        timer = limit(this.timeouts.response, 'no response');
      };
      sent.once('socket', (socket: Socket) => {
        // The kernel's probes detect a peer that disappeared.
        socket.setKeepAlive(true, this.timeouts.keepAlive);
        const secure = 'encrypted' in socket;
        if (!sent.reusedSocket) this.reportAddresses(socket);
        if (sent.reusedSocket || (!secure && !socket.connecting)) connected();
        else socket.once(secure ? 'secureConnect' : 'connect', connected);
      });
      let informed = 0;
      const inform = (): void => {
        if (++informed > MAXIMUM_INFORMATION)
          end(`more than ${MAXIMUM_INFORMATION} informational answers (1xx)`);
      };
      sent.on('information', inform);
      sent.once('response', resolve);
      sent.on('error', (error) => reject(asConnectionError(error, this.name)));
      sent.end(body);
    }).finally(() => {
      timer?.cancel();
      if (giveUp) signal.removeEventListener('abort', giveUp);
    });
  }

  /** Each attempt is reported, and the connection in the end: of an address that needs no lookup the attempt is over by now. */
  private reportAddresses(socket: Socket): void {
    const { connecting } = this;
    if (!connecting) return;
    const connected = (): void => {
      const { remoteAddress, remotePort } = socket;
      if (remoteAddress !== undefined && remotePort !== undefined) connecting(remoteAddress, remotePort);
    };
    socket.on('connectionAttempt', (address: string, port: number) => connecting(address, port));
    if (socket.connecting) socket.once('connect', connected);
    else connected();
  }

  /** The body of the response. */
  body(response: IncomingMessage): ResponseBody {
    return new ResponseBody(response, this.name, this.clock);
  }

  /** The error in a response that is not 2xx. */
  async failure(response: IncomingMessage): Promise<ApiError> {
    const pieces: Buffer[] = [];
    let size = 0;
    const body = this.body(response);
    try {
      await body.read(this.timeouts.silence, (piece) => {
        pieces.push(piece);
        size += piece.length;
        return size > MAXIMUM_ERROR_BODY;
      });
    } catch {
      // The status code is enough.
    }
    body.close();
    const { reason, message } = parseStatus(response.headers['content-type'] ?? '', Buffer.concat(pieces));
    const retryAfter = retryAfterOf(response.headers['retry-after']);
    return new ApiError(this.name, response.statusCode ?? 0, reason, message, retryAfter);
  }
}

function parseStatus(contentType: string, body: Buffer): Pick<ApiStatus, 'reason' | 'message'> {
  try {
    return readStatus(encodingOf(contentType).status(body));
  } catch {
    return { reason: '', message: body.toString('utf8', 0, 200).trim() };
  }
}

/** Bytes that are decompressed at a time. */
const DECOMPRESSED_CHUNK = 64 * 1024;

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
  /** The end, and its cause. */
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
   * Passes on the pieces as they arrive, until one is taken with true: the next call continues after it. Resolves with false at the
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
  // An error of either reaches the reader, through the last stream.
  return pipeline(response, createGunzip({ chunkSize: DECOMPRESSED_CHUNK }), () => {});
}
