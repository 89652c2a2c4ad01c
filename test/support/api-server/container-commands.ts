import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';

/** A command that a client runs in a container. */
export interface ContainerCommand {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly command: readonly string[];
}

/** What becomes of it. */
export type Executed =
  | { readonly exitCode: number; readonly stdout?: string; readonly stderr?: string }
  /** Nothing could be started; the container runtime's words. */
  | { readonly failure: string }
  /** Refused before anything is started. */
  | { readonly refusal: number; readonly reason: string; readonly message: string }
  /** The connection breaks off. */
  | 'broken';

const PATH = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/exec$/;
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

/** Exec over WebSocket: commands are answered by a function of the test instead of containers. */
export class ContainerCommands {
  /** Runs a command. */
  run: (command: ContainerCommand) => Executed | Promise<Executed> = () => ({
    refusal: 404,
    reason: 'NotFound',
    message: 'no such pod',
  });
  /** The newest protocol that this server speaks. */
  protocol = PROTOCOLS[0]!;
  private readonly sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => [...offered].find((name) => name === this.protocol) ?? false,
  });

  /** Answers a request to upgrade. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, isLetIn: boolean): void {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'https://server');
    const [, namespace = '', pod = ''] = PATH.exec(pathname) ?? [];
    if (!isLetIn) return refuse(socket, 401, 'Unauthorized', 'Unauthorized');
    void this.answer(
      {
        namespace,
        pod,
        container: searchParams.get('container') ?? '',
        command: searchParams.getAll('command'),
      },
      socket,
      (done) => this.sockets.handleUpgrade(request, socket, head, done),
    );
  }

  private async answer(
    command: ContainerCommand,
    socket: Duplex,
    accept: (done: (client: WebSocket) => void) => void,
  ): Promise<void> {
    const executed = await this.run(command);
    if (socket.destroyed) return;
    if (executed === 'broken') return accept((client) => client.terminate());
    if ('refusal' in executed) return refuse(socket, executed.refusal, executed.reason, executed.message);
    accept((client) => {
      if ('failure' in executed) {
        const message = `Internal error occurred: ${executed.failure}`;
        send(client, 3, JSON.stringify({ status: 'Failure', reason: 'InternalError', message }));
      } else {
        const { exitCode, stdout = '', stderr = '' } = executed;
        // In two messages, as a long output comes.
        send(client, 1, stdout.slice(0, 20));
        send(client, 2, stderr);
        send(client, 1, stdout.slice(20));
        send(client, 3, JSON.stringify(endOf(exitCode)));
      }
      client.close(1000);
    });
  }
}

function endOf(exitCode: number): object {
  if (exitCode === 0) return { metadata: {}, status: 'Success' };
  return {
    metadata: {},
    status: 'Failure',
    reason: 'NonZeroExitCode',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}

function send(client: WebSocket, channel: number, text: string): void {
  client.send(Buffer.concat([Buffer.from([channel]), Buffer.from(text)]));
}

function refuse(socket: Duplex, code: number, reason: string, message: string): void {
  const body = JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message });
  socket.end(
    `HTTP/1.1 ${code} ${reason}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
