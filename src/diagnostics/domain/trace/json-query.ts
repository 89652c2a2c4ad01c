import { InvalidQueryError, parseQuery, queryOf, type TraceQuery } from './query.js';

/**
 * Reads a query from one line of JSON: `{"from": SOURCE, "to": "ADDRESS:PORT/PROTOCOL"}`. The protocol may be a field of its own,
 * `protocol`, and so may `address` and `port` instead of `to`.
 * @throws InvalidQueryError
 */
export function parseJsonQuery(line: string): TraceQuery {
  const fields = parsed(line);
  const from = text(fields, 'from');
  const protocol = optionalText(fields, 'protocol');
  const to = optionalText(fields, 'to');
  if (to === undefined) return queryOf(from, text(fields, 'address'), portOf(fields.port), protocol ?? 'tcp');
  const query = parseQuery(from, protocol === undefined || to.includes('/') ? to : `${to}/${protocol}`);
  if (protocol !== undefined && protocol.toUpperCase() !== query.protocol)
    throw new InvalidQueryError(
      `"to" says ${query.protocol}, but "protocol" says ${JSON.stringify(protocol)}`,
    );
  return query;
}

type Fields = Readonly<Record<string, unknown>>;

function parsed(line: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new InvalidQueryError(
      `a query is a JSON object on one line, not ${JSON.stringify(line.slice(0, 100))}`,
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidQueryError('a query is a JSON object with "from" and "to"');
  return value as Fields;
}

function text(fields: Fields, name: string): string {
  const value = optionalText(fields, name);
  if (value === undefined) throw new InvalidQueryError(`the query has no ${JSON.stringify(name)}`);
  return value;
}

function optionalText(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new InvalidQueryError(`${JSON.stringify(name)} of the query is not a text`);
}

function portOf(value: unknown): number {
  const port = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof port === 'number') return port;
  throw new InvalidQueryError('the query has no "port", which is a number from 1 to 65535');
}
