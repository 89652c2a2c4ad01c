import { flatText } from './flat-text.js';

/** Transport protocols of Services. */
export type Protocol = 'TCP' | 'UDP' | 'SCTP';

/** Identity of a Service: `namespace/name`. */
export type ServiceKey = string;

export function serviceKey(namespace: string, name: string): ServiceKey {
  return flatText(namespace, '/', name);
}

/** Whether a text of a person can be the key of a Service, existing or not. */
export function isServiceKey(text: string): boolean {
  return /^[a-z0-9-]+\/[a-z0-9.-]+$/.test(text);
}

/** Identity of one port of a Service. The protocol counts: `dns/UDP` and `dns/TCP` are two (docs/spec/model.md §1). */
export interface ServicePortName {
  readonly namespace: string;
  readonly name: string;
  /** Empty for an unnamed port. */
  readonly port: string;
  readonly protocol: Protocol;
}

/** `namespace/service/proto/port`, protocol in lower case. Unique; sorting it keeps the ports of a Service together. */
export type ServicePortKey = string;

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

/** The Service and the port in a display name. */
export function parseDisplayName(text: string): { readonly service: ServiceKey; readonly port: string } {
  const [service = '', port = ''] = text.split(':');
  return { service, port };
}

/** `namespace/service:port`, or without the colon for an unnamed port, as in kube-proxy. */
export function displayName(name: ServicePortName): string {
  return flatText(name.namespace, '/', name.name, ...(name.port === '' ? [] : [':', name.port]));
}
