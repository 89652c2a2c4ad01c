/** Queries whose ends are names of pods and Services. */

import type { ForwardingTable } from '../../../domain/forwarding/forwarding-table.js';
import { isProtocol, type Protocol, type ServiceKey } from '../../../domain/model/service-port-name.js';
import { parseAddress, type Address } from '../../../domain/net/address.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { ClusterState } from '../../../domain/state/cluster-state.js';
import {
  destinationText,
  parseQuery,
  parseSource,
  sourceText,
  type TraceQuery,
  type TraceSource,
} from '../../domain/trace/query.js';
import { CannotTraceError } from './trace-packets.js';

/** A port of a Service, as named by a user. */
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

const FORM =
  /^(?:(?:service|services|svc)\/)?((?:[a-z0-9-]+\/)?[a-z](?:[a-z0-9.-]*[a-z0-9])?)(?::([a-z0-9-]+)(?:\/([a-z]+))?)?$/i;

/**
 * Reads `NAME`, `NAMESPACE/NAME` and `service/NAME`, with `:PORT` or `:PORT/PROTOCOL` behind it, a name alone in that namespace if
 * there is one. Undefined if it is none of these.
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
  if (named.length === 0)
    throw new CannotTraceError(
      `no Service ${service} has a cluster IP here; for a pod, write pod/${service}:PORT`,
    );
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

/** A source pod, as named by a user. */
export interface NamedPod {
  /** `NAMESPACE/NAME`, or `NAME` if no other namespace has one of that name. */
  readonly pod: string;
}

/** A pod as the API server knows it. */
export interface KnownPod {
  /** `NAMESPACE/NAME` */
  readonly pod: string;
  /** `Running`, `Pending`, `Succeeded`, `Failed`. */
  readonly phase: string;
  /** As they are written in its status; the first is of the cluster's first family. */
  readonly ips: readonly string[];
}

/** The kind before a name, as `kubectl get -o name` prints it and kubectl takes it. */
const POD_KIND = /^(?:pod|pods|po)\//;
const POD_FORM =
  /^((?:[a-z0-9-]{1,63}\/)?[a-z0-9][a-z0-9.-]{0,252})(?::(\d{1,5})(?:\/(tcp|udp|sctp|TCP|UDP|SCTP))?)?$/;

/**
 * Reads the sender of packets: `pod/NAME`, the pod in that namespace if there is one; `pod/NAMESPACE/NAME` and `NAMESPACE/NAME`, as no
 * other sender has a name. Undefined if it is none of these.
 */
export function parsePodName(text: string, namespace?: string): NamedPod | undefined {
  const isNamed = POD_KIND.test(text) || text.includes('/');
  const [, name, port] = (isNamed && POD_FORM.exec(text.replace(POD_KIND, ''))) || [];
  return name === undefined || port !== undefined ? undefined : { pod: podKey(name, namespace) };
}

/** A port of a pod. */
export interface NamedPodPort extends NamedPod {
  readonly port: number;
  readonly protocol: Protocol;
}

/** Reads `pod/NAME:PORT` and `pod/NAMESPACE/NAME:PORT`, with `/PROTOCOL` behind it if it is not TCP. Undefined if it is none of these. */
export function parsePodPort(text: string, namespace?: string): NamedPodPort | undefined {
  const [, name, port, spoken = 'tcp'] =
    (POD_KIND.test(text) && POD_FORM.exec(text.replace(POD_KIND, ''))) || [];
  const number = Number(port);
  if (name === undefined || !(number >= 1 && number <= 65_535)) return undefined;
  return { pod: podKey(name, namespace), port: number, protocol: spoken.toUpperCase() as Protocol };
}

function podKey(name: string, namespace: string | undefined): string {
  return namespace === undefined || name.includes('/') ? name : `${namespace}/${name}`;
}

/**
 * Where its packets come from.
 * @param known the pods that may be meant
 * @param family of the packets; undefined if any will do: that of its first address
 * @throws CannotTraceError if it is not clear which pod that is, or it has no such address
 */
export function podAddress(named: NamedPod, known: readonly KnownPod[], family?: IpFamily): Address {
  const address = podAddresses(named, known).find((one) => family === undefined || one.family === family);
  if (address) return address;
  throw new CannotTraceError(`the pod ${known[0]!.pod} has no ${family!} address`);
}

/**
 * All its addresses, at least one.
 * @throws CannotTraceError if it is not clear which pod that is, or it has none
 */
export function podAddresses({ pod }: NamedPod, known: readonly KnownPod[]): readonly Address[] {
  const [found, ...others] = known;
  if (!found) throw new CannotTraceError(`there is no pod ${pod}`);
  if (others.length > 0)
    throw new CannotTraceError(
      `${known.map((one) => one.pod).join(' and ')} are called ${pod}; name one with its namespace`,
    );
  // Another pod may have got its address.
  if (['Succeeded', 'Failed'].includes(found.phase))
    throw new CannotTraceError(`the pod ${found.pod} has ended (${found.phase})`);
  const addresses = found.ips.flatMap((ip) => parseAddress(ip) ?? []);
  if (addresses.length === 0)
    throw new CannotTraceError(`the pod ${found.pod} has no address yet (${found.phase})`);
  return addresses;
}

/** A query from or to a pod, or to a Service, by its name. */
export interface NamedQuery {
  readonly from: TraceSource | NamedPod;
  readonly to: NamedDestination | NamedPodPort | Omit<TraceQuery, 'from'>;
}

/** What names mean in a cluster: those that may be meant. */
export interface ClusterNames {
  /** The cluster IPs of Services. */
  places(destination: NamedDestination): Promise<readonly ClusterPlace[]>;
  pods(pod: NamedPod): Promise<readonly KnownPod[]>;
  /** The reason of the verdict on a Service without a cluster IP here. Missing: not known. */
  reason?(service: ServiceKey): Promise<string>;
}

/**
 * Reads a query, of addresses or of names.
 * @param namespace of names without one
 * @throws InvalidQueryError
 */
export function parseNamedQuery(
  from: string,
  to: string,
  namespace?: string,
): { readonly query: TraceQuery } | { readonly named: NamedQuery } {
  const pod = parsePodName(from, namespace);
  const destination = parsePodPort(to, namespace) ?? parseDestinationName(to, namespace);
  if (!pod && !destination) return { query: parseQuery(from, to) };
  return { named: { from: pod ?? parseSource(from), to: destination ?? parseQuery('node', to) } };
}

/** Both ends as `parseNamedQuery` reads them. */
export function endTexts({ from, to }: NamedQuery): { readonly from: string; readonly to: string } {
  const service = ({ service: name, port, protocol }: NamedDestination): string =>
    [
      name,
      ...(port === undefined ? [] : [`:${port}`]),
      ...(protocol === undefined ? [] : [`/${protocol}`]),
    ].join('');
  return {
    from: 'pod' in from ? `pod/${from.pod}` : sourceText(from),
    to:
      'service' in to
        ? service(to)
        : 'pod' in to
          ? `pod/${to.pod}:${to.port}/${to.protocol}`
          : destinationText(to),
  };
}

/**
 * From and to the addresses of the pods, to the cluster IP of the Service, that are named.
 * @throws CannotTraceError if it is not clear which those are
 */
export async function withoutNames({ from, to }: NamedQuery, names: ClusterNames): Promise<TraceQuery> {
  const pods = 'pod' in from ? await names.pods(from) : [];
  const family = familyOf(from, pods);
  const place =
    'service' in to
      ? await placeFor(to, names, family)
      : 'pod' in to
        ? { ...to, to: podAddress(to, await names.pods(to), family) }
        : to;
  const sender: TraceSource =
    'pod' in from ? { kind: 'pod', address: podAddress(from, pods, place.to.family) } : from;
  return { ...place, from: sender };
}

async function placeFor(
  name: NamedDestination,
  names: ClusterNames,
  family: IpFamily | undefined,
): Promise<Omit<TraceQuery, 'from'>> {
  const places = await names.places(name);
  const { service } = name;
  if (names.reason && service.includes('/') && places.every((place) => place.service !== service))
    throw new CannotTraceError(`${service}: ${await names.reason(service)}`);
  const { address, number, protocol } = placeOf(name, places, family);
  return { to: parseAddress(address)!, port: number, protocol };
}

/** The family of the sender; undefined if it has addresses of both. @throws CannotTraceError */
function familyOf(from: TraceSource | NamedPod, pods: readonly KnownPod[]): IpFamily | undefined {
  if (!('pod' in from)) return from.kind === 'node' ? undefined : from.address?.family;
  const { family } = podAddress(from, pods);
  return pods[0]!.ips.every((ip) => parseAddress(ip)?.family === family) ? family : undefined;
}

/** The cluster IPs of all Services in these tables. */
export function placesIn(tables: readonly { readonly table: ForwardingTable }[]): readonly ClusterPlace[] {
  return tables.flatMap(({ table }) =>
    [...table.services()].flatMap((service) =>
      table
        .entriesOf(service)
        .flatMap(({ name, family, frontends }) =>
          frontends.flatMap(({ kind, address, port }) =>
            kind === 'cluster-ip' && address !== undefined
              ? { service, port: name.port, number: port, protocol: name.protocol, family, address }
              : [],
          ),
        ),
    ),
  );
}

/** A proxy does not know a pod; the API server may. */
export class UnknownPodError extends CannotTraceError {}

/** The pods of that name that are endpoints of a Service: a proxy knows no others. Looks at all endpoints. */
export function podsIn(
  state: Pick<ClusterState, 'serviceKeys' | 'slicesOf'>,
  { pod }: NamedPod,
): readonly KnownPod[] {
  const [name = '', wanted] = pod.split('/').reverse();
  const found = new Map<string, Set<string>>();
  for (const service of state.serviceKeys()) {
    const [namespace = ''] = service.split('/');
    if (wanted !== undefined && namespace !== wanted) continue;
    for (const { endpoints } of state.slicesOf(service).flatMap(({ ports }) => ports))
      for (const endpoint of endpoints) {
        if (endpoint.pod !== name) continue;
        const ips = found.get(`${namespace}/${name}`);
        if (ips) ips.add(endpoint.address);
        else found.set(`${namespace}/${name}`, new Set([endpoint.address]));
      }
  }
  if (found.size === 0)
    throw new UnknownPodError(
      `no endpoint of a Service is the pod ${pod}; use the address of the pod instead`,
    );
  return [...found].map(([key, ips]) => ({ pod: key, phase: 'Running', ips: [...ips] }));
}
