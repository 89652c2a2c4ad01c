/** Names and keys of Services and service ports, and their protocols. */

import { flatText } from './text.js';

/** Transport protocols of Services. */
export type Protocol = 'TCP' | 'UDP' | 'SCTP';

/** Identity of a Service: `namespace/name`. */
export type ServiceKey = string;

/** Identity of one port of a Service. The protocol counts: `dns/UDP` and `dns/TCP` are two (docs/internals/spec/model.md §1). */
export interface ServicePortName {
  readonly namespace: string;
  readonly name: string;
  /** Empty for an unnamed port. */
  readonly port: string;
  readonly protocol: Protocol;
}

/** `namespace/service/proto/port`, protocol in lower case. Unique; sorting it keeps the ports of a Service together. */
export type ServicePortKey = string;

export function serviceKey(namespace: string, name: string): ServiceKey {
  return flatText(namespace, '/', name);
}

/** Whether a text of a person can be the key of a Service, existing or not. */
export function isServiceKey(text: string): boolean {
  return /^[a-z0-9-]+\/[a-z0-9.-]+$/.test(text);
}

export function servicePortKey(name: ServicePortName): ServicePortKey {
  return flatText(name.namespace, '/', name.name, '/', name.protocol.toLowerCase(), '/', name.port);
}

/** The name with this key. */
export function servicePortName(key: ServicePortKey): ServicePortName {
  const [namespace, name, protocol, port] = key.split('/') as [string, string, Lowercase<Protocol>, string];
  return { namespace, name, port, protocol: protocol.toUpperCase() as Protocol };
}

/** The Service that a service port belongs to. */
export function serviceOf(key: ServicePortKey): ServiceKey {
  return key.split('/', 2).join('/');
}

/** `namespace/service:port`, or without the colon for an unnamed port, as in kube-proxy. */
export function displayName(name: ServicePortName): string {
  return flatText(name.namespace, '/', name.name, ...(name.port === '' ? [] : [':', name.port]));
}

/** The Service and the port in a display name. */
export function parseDisplayName(text: string): { readonly service: ServiceKey; readonly port: string } {
  const [service = '', port = ''] = text.split(':');
  return { service, port };
}

/** The protocol numbers of IP headers (IANA). */
export const PROTOCOL_NUMBERS: Readonly<Record<Protocol, number>> = { TCP: 6, UDP: 17, SCTP: 132 };

/** Those that a Service can have. */
export const PROTOCOLS = Object.keys(PROTOCOL_NUMBERS) as readonly Protocol[];

const BY_NUMBER = new Map(
  Object.entries(PROTOCOL_NUMBERS).map(([name, number]) => [number, name as Protocol]),
);

/** Undefined for a protocol that no Service can have. */
export function protocolOfNumber(number: number): Protocol | undefined {
  return BY_NUMBER.get(number);
}

const TEXTS = Array.from(
  { length: 256 },
  (_, number) => protocolOfNumber(number)?.toLowerCase() ?? String(number),
);

/** As the tools of the kernel print it: `tcp`, or the number of a protocol that no Service can have. */
export function protocolText(number: number): string {
  return TEXTS[number]!;
}

/** Whether a Service can have the protocol. */
export function isProtocol(name: string): name is Protocol {
  return Object.hasOwn(PROTOCOL_NUMBERS, name);
}
