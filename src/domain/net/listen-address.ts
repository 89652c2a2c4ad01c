import { hostPort, parseAddress } from './address.js';

/** `host:port` or `[host]:port` taken apart; undefined when there is no such form in the text. */
export function splitHostPort(text: string): { readonly host: string; readonly port: string } | undefined {
  const parts = /^(?:\[([^[\]]*)\]|([^:[\]]*)):([^:[\]]*)$/.exec(text);
  return parts ? { host: (parts[1] ?? parts[2])!, port: parts[3]! } : undefined;
}

/** The port, when the text is a decimal number from `lowest` to 65535. */
export function parsePort(text: string, lowest = 1): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  return port >= lowest && port <= 65535 ? port : undefined;
}

/** A bare IP gets the port, with brackets around IPv6; everything else stays unchanged. */
export function withPort(address: string, port: number): string {
  return parseAddress(address) ? hostPort(address, port) : address;
}

/** The problems of an `IP:port` (docs/internals/spec/configuration.md §4.2, the host:port rule). */
export function hostPortProblems(text: string): readonly string[] {
  const parts = splitHostPort(text);
  if (!parts) return ['must be IP:port'];
  return [
    ...(parseAddress(parts.host) ? [] : ['must be a valid IP']),
    ...(parsePort(parts.port) === undefined ? ['must be a valid port'] : []),
  ];
}
