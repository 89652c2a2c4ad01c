/** The parts of a service port; the port is empty if it has no name. */
export interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  /** Upper case; empty if the text does not tell. */
  readonly protocol: string;
  readonly port: string;
}

/** Its key, `namespace/service/protocol/port`, or the name that the rules have it by, `namespace/service:port`. */
const FORMS = [
  /^(?<namespace>[^/:]+)\/(?<name>[^/:]+)\/(?<protocol>[a-z]+)\/(?<port>[^/:]*)$/,
  /^(?<namespace>[^/:]+)\/(?<name>[^/:]+)(?::(?<port>[^/:]*))?$/,
];

/** Undefined when the text is neither the key nor the name of a service port. */
export function readServicePort(text: string): ServicePort | undefined {
  const parts = FORMS.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  if (!parts) return undefined;
  const { namespace = '', name = '', protocol = '', port = '' } = parts;
  return { namespace, name, protocol: protocol.toUpperCase(), port };
}
