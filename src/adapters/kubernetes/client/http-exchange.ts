import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Clock, Timer } from '../../../application/ports/clock.js';
import { encodingOf } from '../encoding/media-types.js';
import { ApiConnectionError, ApiError, ApiSilenceError } from './api-error.js';
import type { ApiTimeouts } from './api-timeouts.js';
import { retryAfterOf } from './retry-after.js';

const MAXIMUM_ERROR_BODY = 64 * 1024;

/** Bytes that are decompressed at a time. */
const DECOMPRESSED_CHUNK = 64 * 1024;

/** One HTTP request and its response, with time limits. */
export class HttpExchange {
  constructor(
    /** Names the request in errors. */
    private readonly name: string,
    private readonly timeouts: ApiTimeouts,
    private readonly clock: Clock,
  ) {}

  /** Resolves when the response begins. Throws ApiConnectionError, and the signal's reason when it is aborted. */
  send(sent: ClientRequest, body: string | undefined, signal: AbortSignal): Promise<IncomingMessage> {
    let timer: Timer | undefined;
    let giveUp: (() => void) | undefined;
    return new Promise<IncomingMessage>((resolve, reject) => {
      // A request that waits for its proxy has no socket yet, and emits nothing when destroyed.
      const limit = (milliseconds: number, what: string): Timer =>
        this.clock.after(milliseconds, () => {
          const error = new ApiConnectionError(this.name, `${what} within ${milliseconds} ms`);
          sent.destroy(error);
          reject(error);
        });
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
        if (sent.reusedSocket || (!secure && !socket.connecting)) connected();
        else socket.once(secure ? 'secureConnect' : 'connect', connected);
      });
      sent.once('response', resolve);
      sent.on('error', (error) => reject(asConnectionError(error, this.name)));
      sent.end(body);
    }).finally(() => {
      timer?.cancel();
      if (giveUp) signal.removeEventListener('abort', giveUp);
    });
  }

  /** The body as it arrives, decompressed. Throws ApiConnectionError, and ApiSilenceError after `silence` milliseconds without data. */
  async *chunks(response: IncomingMessage, silence: number): AsyncGenerator<Buffer> {
    let last = this.clock.now();
    let timer: Timer;
    const check = (): void => {
      const left = last + silence - this.clock.now();
      if (left > 0) timer = this.clock.after(left, check);
      else response.destroy(new ApiSilenceError(this.name, silence));
    };
    timer = this.clock.after(silence, check);
    try {
      for await (const chunk of decompressed(response)) {
        last = this.clock.now();
        yield chunk as Buffer;
      }
    } catch (error) {
      throw asConnectionError(error as Error, this.name);
    } finally {
      timer.cancel();
      response.destroy();
    }
  }

  /** The error in a response that is not 2xx. */
  async failure(response: IncomingMessage): Promise<ApiError> {
    const body: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of this.chunks(response, this.timeouts.silence)) {
        body.push(chunk);
        size += chunk.length;
        if (size > MAXIMUM_ERROR_BODY) break;
      }
    } catch {
      // The status code is enough.
    }
    const { reason, message } = parseStatus(response.headers['content-type'] ?? '', Buffer.concat(body));
    const retryAfter = retryAfterOf(response.headers['retry-after']);
    return new ApiError(this.name, response.statusCode ?? 0, reason, message, retryAfter);
  }
}

function decompressed(response: IncomingMessage): Readable {
  if (response.headers['content-encoding'] !== 'gzip') return response;
  // An error of either reaches whoever reads, through the last stream.
  return pipeline(response, createGunzip({ chunkSize: DECOMPRESSED_CHUNK }), () => {});
}

function parseStatus(contentType: string, body: Buffer): { reason: string; message: string } {
  try {
    const { reason, message } = encodingOf(contentType).status(body);
    return {
      reason: typeof reason === 'string' ? reason : '',
      message: typeof message === 'string' ? message : '',
    };
  } catch {
    return { reason: '', message: body.toString('utf8', 0, 200).trim() };
  }
}

function asConnectionError(error: Error, name: string): Error {
  if (error instanceof ApiConnectionError || error.name === 'AbortError') return error;
  const { code } = error as NodeJS.ErrnoException;
  const message = error.message || (error as AggregateError).errors?.map(String).join(', ') || 'failed';
  return new ApiConnectionError(name, code && !message.includes(code) ? `${message} (${code})` : message, {
    cause: error,
  });
}
