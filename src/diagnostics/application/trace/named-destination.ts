import { isProtocol, type Protocol, type ServiceKey } from '../../../domain/model/service-port-name.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { CannotTraceError } from './trace-packets.js';

/** A port of a Service, as somebody names it. */
export interface NamedDestination {
  /** `NAMESPACE/NAME`, or `NAME` if no other namespace has one of that name. */
  readonly service: string;
  /** Its name or its number; not needed where the Service has one alone. */
  readonly port?: string;
  readonly protocol?: Protocol;
}

/** A service port at its cluster IP. */
export interface ClusterPlace {
  readonly service: ServiceKey;
  /** The name of the port; empty for an unnamed one. */
  readonly port: string;
  readonly number: number;
  readonly protocol: Protocol;
  readonly family: IpFamily;
  readonly address: string;
}

const FORM = /^((?:[a-z0-9-]+\/)?[a-z](?:[a-z0-9.-]*[a-z0-9])?)(?::([a-z0-9-]+)(?:\/([a-z]+))?)?$/i;

/**
 * Reads `NAME`, `NAMESPACE/NAME`, with `:PORT` or `:PORT/PROTOCOL` behind it, the first in that namespace if there is one. Undefined
 * if it is none of these.
 */
export function parseDestinationName(text: string, namespace?: string): NamedDestination | undefined {
  const [, name, port, spoken] = FORM.exec(text) ?? [];
  const protocol = spoken?.toUpperCase();
  if (name === undefined || (protocol !== undefined && !isProtocol(protocol))) return undefined;
  const service = namespace === undefined || name.includes('/') ? name : `${namespace}/${name}`;
  return { service, ...(port !== undefined && { port }), ...(protocol !== undefined && { protocol }) };
}

/**
 * Where it leads.
 * @param places those of all Services, or of those that may be meant
 * @param family that of who sends, if it is known
 * @throws CannotTraceError if nothing or more than one thing may be meant
 */
export function placeOf(
  { service, port, protocol }: NamedDestination,
  places: readonly ClusterPlace[],
  family?: IpFamily,
): ClusterPlace {
  const isIt = ({ service: key }: ClusterPlace): boolean =>
    key === service || (!service.includes('/') && key.endsWith(`/${service}`));
  const named = places.filter(isIt);
  if (named.length === 0) throw new CannotTraceError(`no Service ${service} has a cluster IP here`);
  const keys = [...new Set(named.map((one) => one.service))];
  if (keys.length > 1)
    throw new CannotTraceError(`${keys.join(' and ')} are called ${service}; name one with its namespace`);
  const fitting = named.filter(
    (one) =>
      (port === undefined || one.port === port || String(one.number) === port) &&
      (protocol === undefined || one.protocol === protocol),
  );
  const ports = [...new Set((fitting.length > 0 ? fitting : named).map(portText))];
  if (fitting.length === 0)
    throw new CannotTraceError(`${keys[0]!} has no such port; it has ${ports.join(', ')}`);
  if (ports.length > 1) throw new CannotTraceError(`${keys[0]!} has the ports ${ports.join(', ')}; name one`);
  const found = family === undefined ? fitting[0] : fitting.find((one) => one.family === family);
  if (!found) throw new CannotTraceError(`${keys[0]!} has no cluster IP of ${family!}`);
  return found;
}

function portText({ port, number, protocol }: ClusterPlace): string {
  return `${port === '' ? number : port}/${protocol.toLowerCase()}`;
}
