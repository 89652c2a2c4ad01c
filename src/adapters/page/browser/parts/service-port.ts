/** The parts of the key of a service port, `namespace/service/protocol/port`; the port is empty if it has no name. */
export interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  /** Upper case. */
  readonly protocol: string;
  readonly port: string;
}

export function readServicePort(key: string): ServicePort {
  const [namespace = '', name = '', protocol = '', ...port] = key.split('/');
  return { namespace, name, protocol: protocol.toUpperCase(), port: port.join('/') };
}

/** `http TCP`. */
export function portWords({ port, protocol }: Pick<ServicePort, 'port' | 'protocol'>): string {
  return `${port === '' ? '(unnamed)' : port} ${protocol}`;
}
