import { type Protocol, isProtocol } from '../../../domain/model/service-port-name.js';
import { hostPort, parseAddress, type Address } from '../../../domain/net/address.js';
import { anything, fields, optional, text } from '../../../domain/shape.js';
import { NamedError } from '../../../domain/model/named-error.js';

/** Where a packet comes from. */
export type TraceSource =
  /** A process on the node itself. */
  | { readonly kind: 'node' }
  /** Another machine; without an address, one that is nowhere in the cluster. */
  | { readonly kind: 'outside'; readonly address?: Address }
  /** A pod on any node. */
  | { readonly kind: 'pod'; readonly address: Address };

/** The verdicts for new connections from there to that address and port. */
export interface TraceQuery {
  readonly from: TraceSource;
  readonly to: Address;
  /** 1 to 65535. */
  readonly port: number;
  readonly protocol: Protocol;
}

/** The query cannot be read; the message says what was expected. */
export class InvalidQueryError extends NamedError {}

const DESTINATION = /^(?:\[([^[\]]*)\]|([^[\]:]*)):(\d{1,5})(?:\/([a-zA-Z]+))?$/;

/**
 * Reads a query from the command line.
 * @param from a pod's address, `node`, `outside` or `outside:ADDRESS`
 * @param to `ADDRESS:PORT` or `ADDRESS:PORT/PROTOCOL`, IPv6 in brackets; the protocol in any case, TCP without one
 * @throws InvalidQueryError
 */
export function parseQuery(from: string, to: string): TraceQuery {
  const [, bracketed, plain, port, protocol = 'tcp'] = DESTINATION.exec(to) ?? [];
  if (port === undefined)
    throw new InvalidQueryError(
      `the destination ${quoted(to)} is not ADDRESS:PORT or ADDRESS:PORT/PROTOCOL, with IPv6 addresses in brackets`,
    );
  return queryOf(from, (bracketed ?? plain)!, Number(port), protocol);
}

/**
 * The query of these parts.
 * @throws InvalidQueryError
 */
export function queryOf(from: string, address: string, port: number, protocol: string): TraceQuery {
  const to = parseAddress(address);
  if (!to) throw new InvalidQueryError(`the destination ${quoted(address)} is not an IP address`);
  if (!Number.isInteger(port) || port < 1 || port > 65535)
    throw new InvalidQueryError(`the destination port ${port} is not from 1 to 65535`);
  const known = protocol.toUpperCase();
  if (!isProtocol(known))
    throw new InvalidQueryError(`the protocol ${quoted(protocol)} is none of TCP, UDP and SCTP`);
  const source = parseSource(from);
  if (source.kind !== 'node' && source.address && source.address.family !== to.family)
    throw new InvalidQueryError(`the source ${source.address.text} is not ${to.family}, as ${to.text} is`);
  return { from: source, to, port, protocol: known };
}

/** `10.96.0.10:53/UDP`. */
export function destinationText({ to, port, protocol }: Omit<TraceQuery, 'from'>): string {
  return `${hostPort(to.text, port)}/${protocol}`;
}

/** The text from the command line. */
export function sourceText(from: TraceSource): string {
  switch (from.kind) {
    case 'node':
      return 'node';
    case 'outside':
      return from.address ? `outside:${from.address.text}` : 'outside';
    case 'pod':
      return from.address.text;
  }
}

/**
 * Reads where a packet comes from: a pod's address, `node`, `outside` or `outside:ADDRESS`.
 * @throws InvalidQueryError
 */
export function parseSource(text: string): TraceSource {
  if (text === 'node') return { kind: 'node' };
  if (text === 'outside') return { kind: 'outside' };
  const isOutside = text.startsWith('outside:');
  const address = parseAddress(
    isOutside ? withoutBrackets(text.slice('outside:'.length)) : withoutBrackets(text),
  );
  if (!address)
    throw new InvalidQueryError(
      `the source ${quoted(text)} is neither a pod's address, nor node, outside, or outside:ADDRESS`,
    );
  return { kind: isOutside ? 'outside' : 'pod', address };
}

function withoutBrackets(text: string): string {
  return /^\[(.*)\]$/.exec(text)?.[1] ?? text;
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}

/**
 * Reads a query from one line of JSON: `{"from": SOURCE, "to": "ADDRESS:PORT/PROTOCOL"}`. The protocol may be a field of its own,
 * `protocol`, and so may `address` and `port` instead of `to`.
 * @throws InvalidQueryError
 */
export function parseJsonQuery(line: string): TraceQuery {
  const { from, to, protocol, address, port } = parsed(line);
  if (to === undefined) {
    if (address === undefined) throw new InvalidQueryError('the query has neither "to" nor "address"');
    return queryOf(from, address, Number(port), protocol ?? 'tcp');
  }
  const query = parseQuery(from, protocol === undefined || to.includes('/') ? to : `${to}/${protocol}`);
  if (protocol !== undefined && protocol.toUpperCase() !== query.protocol)
    throw new InvalidQueryError(`"to" has ${query.protocol}, but "protocol" is ${quoted(protocol)}`);
  return query;
}

const jsonQuery = fields({
  from: text,
  to: optional(text),
  protocol: optional(text),
  address: optional(text),
  port: optional(anything),
});

function parsed(line: string): ReturnType<typeof jsonQuery> {
  try {
    return jsonQuery(JSON.parse(line), '');
  } catch (error) {
    const reason = error instanceof SyntaxError ? `not ${quoted(line)}` : (error as Error).message;
    throw new InvalidQueryError(`a query is a JSON object with "from" and "to" on one line: ${reason}`);
  }
}
