import { WebSocket, type ClientOptions } from 'ws';
import { AnswerError } from '../../application/parse-answer.js';
import { LARGEST_RESPONSE } from '../../../adapters/http/largest-response.js';
import type { Clock } from '../../../application/ports/clock.js';
import type { ApiClient } from '../../../adapters/kubernetes/client/api-client.js';
import { ApiConnectionError, ApiProtocolError } from '../../../adapters/kubernetes/client/api-error.js';
import { defaultApiTimeouts, HttpExchange } from '../../../adapters/kubernetes/client/http-exchange.js';
import { NamedError } from '../../../domain/model/named-error.js';

/** A container of a pod. */
interface ContainerReference {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** What both versions mean is the same here: only the newer one can end standard input, which is not used. */
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

/** The first byte of each message. */
const STDOUT = 1;

const STDERR = 2;

const STATUS = 3;

/** Runs commands in containers through the API server, as `kubectl exec` does, over WebSocket. One try each. */
export class PodExec {
  constructor(
    private readonly client: ApiClient,
    private readonly clock: Clock,
  ) {}

  /**
   * Runs a command without standard input and waits for its end. What it prints is kept as a whole.
   * @throws AnswerError when that is more than a proxy answers, ApiError when the API server rejects it, CommandStartError when nothing could be started, ApiConnectionError when the
   * connection fails, ApiProtocolError, KubeconfigError, and the signal's reason when it is aborted
   */
  async run(
    { namespace, pod, container }: ContainerReference,
    command: readonly string[],
    signal: AbortSignal,
  ): Promise<CommandOutcome> {
    const { server, options } = await this.client.access();
    signal.throwIfAborted();
    const url = new URL(
      `${server.pathname.replace(/\/$/, '')}/api/v1/namespaces/${namespace}/pods/${pod}/exec`,
      server,
    );
    url.search = new URLSearchParams([
      ['container', container],
      ['stdout', 'true'],
      ['stderr', 'true'],
      ...command.map((word): [string, string] => ['command', word]),
    ]).toString();
    return this.exchange(`GET ${url.origin}${url.pathname}`, url, options as ClientOptions, signal);
  }

  private exchange(
    name: string,
    url: URL,
    options: ClientOptions,
    signal: AbortSignal,
  ): Promise<CommandOutcome> {
    return new Promise<CommandOutcome>((resolve, reject) => {
      const channels: Record<number, Buffer[]> = { [STDOUT]: [], [STDERR]: [], [STATUS]: [] };
      const text = (channel: number): string => Buffer.concat(channels[channel]!).toString('utf8');
      const socket = new WebSocket(url, PROTOCOLS, {
        ...options,
        perMessageDeflate: false,
        maxPayload: LARGEST_RESPONSE,
      });
      let size = 0;
      const tooLarge = (): void => {
        reject(new AnswerError(`it has more than ${LARGEST_RESPONSE} bytes`));
        socket.terminate();
      };
      const giveUp = (): void => {
        reject(signal.reason as Error);
        socket.terminate();
      };
      signal.addEventListener('abort', giveUp, { once: true });
      socket.on('unexpected-response', (request, response) => {
        const exchange = new HttpExchange(name, defaultApiTimeouts, this.clock);
        exchange
          .failure(response)
          .then(reject, reject)
          .finally(() => request.destroy());
      });
      socket.on('message', (data: Buffer) => {
        size += data.length;
        if (size > LARGEST_RESPONSE) tooLarge();
        else channels[data[0] ?? -1]?.push(data.subarray(1));
      });
      socket.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') tooLarge();
        else reject(new ApiConnectionError(name, error.message || 'failed', { cause: error }));
      });
      socket.on('close', () => {
        signal.removeEventListener('abort', giveUp);
        if (channels[STATUS]!.length === 0)
          return reject(new ApiConnectionError(name, 'the connection ended before the command did'));
        try {
          resolve({ stdout: text(STDOUT), stderr: text(STDERR), exitCode: exitCodeOf(text(STATUS)) });
        } catch (error) {
          reject(
            error instanceof SyntaxError
              ? new ApiProtocolError(name, 'the end of the command is not a Status', { cause: error })
              : error,
          );
        }
      });
    });
  }
}

/** How a command in a container ended. */
export interface CommandOutcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** A command could not be started in its container: there is no such program, or no such container. */
export class CommandStartError extends NamedError {}

interface Status {
  readonly status?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] };
}

/**
 * The exit code in the Status with which the API server ends an exec (channel 3 of `v4.channel.k8s.io`).
 * @throws CommandStartError with the server's words when nothing has run
 */
function exitCodeOf(text: string): number {
  const { status, message, details } = JSON.parse(text) as Status;
  if (status === 'Success') return 0;
  const code = details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message;
  if (code === undefined) throw new CommandStartError(message ?? text);
  return Number(code);
}
