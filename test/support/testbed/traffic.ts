import type { Host } from './host.js';
import type { Testbed } from './testbed.js';

/** A service's address, as a client is given it. */
export interface Frontend {
  readonly dst: string;
  readonly port: number;
}

/** Where a client sends its requests to. */
export interface Destination extends Frontend {
  /** How long an answer may take, in milliseconds, unless it is the usual time of the agent. */
  readonly timeoutMs?: number;
  readonly what: 'http' | 'udp';
  /** The client's own address, where its host has several. */
  readonly src?: string;
}

/** One request and what became of it; times in milliseconds since 1970. */
export interface Request {
  readonly sentAt: number;
  readonly answeredAt: number;
  /** The name of the backend that answered. */
  readonly body?: string;
  readonly error?: string;
}

/** How often each error occurred. */
export function errorsOf(requests: readonly Request[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { error } of requests) if (error !== undefined) counts[error] = (counts[error] ?? 0) + 1;
  return counts;
}

/** A real endpoint: a pod of the node with an HTTP server and a UDP server on one port, which answer its name. */
export class Backend {
  private constructor(
    readonly name: string,
    readonly address: string,
    readonly port: number,
    readonly host: Host,
  ) {}

  static async start(testbed: Testbed, name: string, address: string, port = 8080): Promise<Backend> {
    const backend = new Backend(name, address, port, await testbed.addPod(name, address));
    await backend.startAgain();
    return backend;
  }

  /** Its server dies at once: open connections are reset, new ones refused. */
  async kill(): Promise<void> {
    await this.host.killAgent();
  }

  async startAgain(): Promise<void> {
    await this.host.ask('serve', { name: this.name, port: this.port });
  }
}

/** The name of the backend that answers one request on a new connection. */
export async function askOnce(client: Host, { what, ...to }: Destination): Promise<string> {
  const answer =
    what === 'udp'
      ? client.ask<{ body: string }>('udpAsk', to)
      : client.ask<{ body: string }>('httpGet', { ...to, url: `http://${to.dst}:${to.port}/` });
  return (await answer).body;
}

/** The names that answer n requests, one after the other, each on a new connection. */
export async function askTimes(n: number, client: Host, destination: Destination): Promise<string[]> {
  const names: string[] = [];
  for (let i = 0; i < n; i++) names.push(await askOnce(client, destination));
  return names;
}

/** A connection (or a UDP socket) that stays open between requests. */
export class OpenConnection {
  private constructor(
    private readonly client: Host,
    private readonly handle: number,
  ) {}

  static async open(client: Host, destination: Destination): Promise<OpenConnection> {
    const { handle } = await client.ask<{ handle: number }>('open', destination);
    return new OpenConnection(client, handle);
  }

  /** Who answers now; and, for HTTP, how many connections it has taken since `open` (1 while the first one lives). */
  async ask(timeoutMs?: number): Promise<{ readonly body: string; readonly connections?: number }> {
    return this.client.ask('ask', { handle: this.handle, timeoutMs });
  }
}

/** A guest is about ten times slower: at the usual rate, connections would time out because they wait for its processor. */
const LESS_OFTEN = process.env['IN_GUEST'] === undefined ? 1 : 5;

/** A client that asks again and again, each time on a new connection, until it is stopped. */
export class SteadyClient {
  private constructor(
    private readonly host: Host,
    private readonly handle: number,
  ) {}

  static async start(
    host: Host,
    destination: Destination,
    everyMs: number,
    timeoutMs = 1000,
  ): Promise<SteadyClient> {
    const { handle } = await host.ask<{ handle: number }>('startAsking', {
      ...destination,
      everyMs: everyMs * LESS_OFTEN,
      timeoutMs,
    });
    return new SteadyClient(host, handle);
  }

  /** Waits for the last answer; all requests in the order they were sent. */
  async stop(): Promise<readonly Request[]> {
    const { requests } = await this.host.ask<{ requests: readonly Request[] }>('stopAsking', {
      handle: this.handle,
    });
    return requests;
  }
}
