import type { ServerResponse } from 'node:http';

export const JSON_TYPE = 'application/json';
export const TEXT_TYPE = 'text/plain; charset=utf-8';
export const HTML_TYPE = 'text/html; charset=utf-8';

/** Sends the response with this body, in a way that keeps browsers from guessing another type. */
export function respond(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, {
    'Content-Type': type,
    'X-Content-Type-Options': 'nosniff',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

/** Sends the value as JSON. */
export function respondJson(response: ServerResponse, status: number, value: object): void {
  respond(response, status, JSON_TYPE, JSON.stringify(value));
}
