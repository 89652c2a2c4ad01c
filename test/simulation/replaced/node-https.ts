/** In place of `node:https`: the same, not encrypted. */
import type { ClientRequest } from 'node:http';
import { Agent as HttpAgent, createServer as createHttpServer, requestBy } from './node-http.js';

export class Agent extends HttpAgent {
  override readonly protocol = 'https:';
  override readonly defaultPort = 443;
}

export const globalAgent = new Agent();
export const request = (...parameters: unknown[]): ClientRequest => requestBy(Agent, parameters);
export const createServer = (...parameters: unknown[]) => createHttpServer(...parameters);
export * as default from './node-https.js';
