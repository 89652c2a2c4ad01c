import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Clock, Timer } from '../../application/ports/clock.js';
import type { ForwardingProbe, OpenForwardingProbe } from '../../application/ports/node/forwarding-probe.js';
import { LOCALHOST } from '../../domain/net/address.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/**
 * An attempt may last as long as this many timers, one after the other, of `TURN` milliseconds each. A late event loop delays every timer,
 * and handles the connection between two of them, so the limit counts only time in which this process ran.
 */
const TURNS = 20;
const TURN = 250;

/** Taken if they are free: unused by Kubernetes, and not among those that the kernel gives to connections. */
const USUAL_PORTS = { frontend: 10_266, endpoint: 10_267 };

/** A client sends this many random bytes first; a connection with others is not from here. */
const TOKEN_BYTES = 16;

const TRANSLATED = 'translated';
const UNTRANSLATED = 'untranslated';
const NOT_TRANSLATED =
  'no rule leads connections to the frontend of the check to its endpoint; rules of this proxy are missing, or rules of another program come first';

/** Connects over the loopback device, on which both ports listen: so no other program can have the port of the frontend. */
export class LoopbackProbe implements ForwardingProbe {
  constructor(private readonly clock: Clock) {}

  async open(family: IpFamily): Promise<OpenForwardingProbe> {
    const tokens = new Set<string>();
    const endpoint = await listen(family, USUAL_PORTS.endpoint, TRANSLATED, tokens);
    try {
      const frontend = await listen(family, USUAL_PORTS.frontend, UNTRANSLATED, tokens);
      return new LoopbackPath(family, [frontend, endpoint], tokens, this.clock);
    } catch (error) {
      endpoint.close();
      throw error;
    }
  }
}

class LoopbackPath implements OpenForwardingProbe {
  readonly frontend: number;
  readonly endpoint: number;
  readonly isUsual: boolean;
  private readonly clients = new Set<Socket>();

  constructor(
    private readonly family: IpFamily,
    private readonly servers: readonly [frontend: Server, endpoint: Server],
    /** Those of the running attempt. */
    private readonly tokens: Set<string>,
    private readonly clock: Clock,
  ) {
    const [frontend, endpoint] = servers;
    this.frontend = (frontend.address() as AddressInfo).port;
    this.endpoint = (endpoint.address() as AddressInfo).port;
    this.isUsual = this.frontend === USUAL_PORTS.frontend && this.endpoint === USUAL_PORTS.endpoint;
  }

  async attempt(): Promise<string | undefined> {
    const token = randomBytes(TOKEN_BYTES).toString('latin1');
    this.tokens.add(token);
    const client = connect({ host: LOCALHOST[this.family], port: this.frontend });
    this.clients.add(client);
    let timer: Timer | undefined;
    try {
      const silence = new Promise<string>((resolve) => {
        const wait = (turns: number): void => {
          if (turns === 0) resolve(`no answer within ${(TURNS * TURN) / 1000} s`);
          else timer = this.clock.after(TURN, () => wait(turns - 1));
        };
        wait(TURNS);
      });
      return await Promise.race([exchange(client, token), silence]);
    } finally {
      timer?.cancel();
      this.tokens.delete(token);
      this.clients.delete(client);
      client.destroy();
    }
  }

  close(): void {
    for (const client of this.clients) client.destroy();
    for (const server of this.servers) server.close();
  }
}

/** Sends the token, and reads which listener answers it. */
async function exchange(client: Socket, token: string): Promise<string | undefined> {
  client.setEncoding('latin1').end(token, 'latin1');
  let answer = '';
  try {
    for await (const text of client) answer += text;
  } catch (error) {
    return `the connection failed: ${(error as NodeJS.ErrnoException).code}`;
  }
  if (answer === TRANSLATED) return undefined;
  return answer === UNTRANSLATED ? NOT_TRANSLATED : 'another program answered the connection';
}

/** Listens on this port, or on a free one if it is in use, and answers clients that send a known token. Others learn nothing. */
async function listen(
  family: IpFamily,
  port: number,
  answer: string,
  tokens: ReadonlySet<string>,
): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    let received = '';
    client.unref();
    client.on('error', () => client.destroy());
    client.setTimeout(TURNS * TURN, () => client.destroy());
    client.setEncoding('latin1').on('data', (text: string) => {
      received += text;
      if (received.length < TOKEN_BYTES) return;
      if (tokens.has(received)) client.end(answer);
      else client.resetAndDestroy();
    });
    client.on('end', () => client.end());
  });
  server.listen({ host: LOCALHOST[family], port });
  try {
    await once(server, 'listening');
  } catch (error) {
    if (port === 0 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return listen(family, 0, answer, tokens);
  }
  // A connection that cannot be accepted has no answer.
  server.on('error', () => {});
  server.unref();
  return server;
}
