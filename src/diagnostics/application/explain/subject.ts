import { isServiceKey, type Protocol, type ServiceKey } from '../../../domain/model/service-port-name.js';
import { hostPort, parseAddress } from '../../../domain/net/address.js';

/** What an explanation is asked about. */
export type Subject = { readonly kind: 'service'; readonly service: ServiceKey } | AddressSubject;

/** An address, a port of it, or, without an address, a port of this node. */
export interface AddressSubject {
  readonly kind: 'address';
  /** Canonical. */
  readonly address?: string;
  readonly port?: number;
  /** Undefined for any. */
  readonly protocol?: Protocol;
}

const WITH_PROTOCOL = /^([^/]+)(?:\/(tcp|udp|sctp))?$/i;
const WITH_PORT = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/;
const PORT = /^\d{1,5}$/;

/**
 * Reads `NAMESPACE/NAME`, `ADDRESS`, `ADDRESS:PORT`, with an IPv6 address in brackets, or `PORT`, the last two with
 * `/PROTOCOL` if wanted. Undefined if it is none of these.
 */
export function parseSubject(text: string): Subject | undefined {
  const [, place, spoken] = WITH_PROTOCOL.exec(text) ?? [];
  // A namespace may consist of digits, but a Service named tcp in it would be quite a coincidence.
  const subject = place === undefined ? undefined : parsePlace(place);
  if (subject && (spoken === undefined || subject.port !== undefined))
    return { ...subject, ...(spoken !== undefined && { protocol: spoken.toUpperCase() as Protocol }) };
  return isServiceKey(text) ? { kind: 'service', service: text } : undefined;
}

function parsePlace(text: string): AddressSubject | undefined {
  const address = parseAddress(text)?.text;
  if (address !== undefined) return { kind: 'address', address };
  const [, bracketed, plain, number = text] = WITH_PORT.exec(text) ?? [];
  const port = PORT.test(number) ? Number(number) : 0;
  if (port < 1 || port > 65535) return undefined;
  const host = bracketed ?? plain;
  if (host === undefined) return { kind: 'address', port };
  const parsed = parseAddress(host);
  return parsed && { kind: 'address', address: parsed.text, port };
}

/** In canonical form. */
export function subjectText({ address, port, protocol }: AddressSubject): string {
  const place = address === undefined ? String(port) : port === undefined ? address : hostPort(address, port);
  return protocol === undefined ? place : `${place}/${protocol}`;
}
