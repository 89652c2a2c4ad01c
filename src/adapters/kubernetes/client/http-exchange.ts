import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../../application/ports/clock.js';
import { readStatus, type ApiStatus } from '../encoding/encoding.js';
import { encodingOf } from '../encoding/media-types.js';
import { ApiConnectionError, ApiError, asConnectionError } from './api-error.js';
import type { ApiTimeouts } from './api-timeouts.js';
import { ResponseBody } from './response-body.js';
import { retryAfterOf } from './retry-after.js';

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
