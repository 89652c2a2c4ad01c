/** Finds the Services, and their ports, that a command line names. */

import {
  type AboutUnknown,
  type UnknownName,
  servicesAnswer,
  type RowFilter,
  type ServiceList,
  type ServiceRow,
} from '../../application/status/service-row.js';
import { serviceKey, type ServiceKey } from '../../../domain/model/service-port-name.js';
import { type ServiceName, nameText } from './options.js';
import type { RunningProxy } from './running-proxy.js';
import { printError } from '../../../adapters/cli/print-error.js';

/** A service port that an answer reports. */
export interface ServiceAndPort {
  readonly service: ServiceKey;
  readonly port: string;
}

/** The Services of a query, and the ports of each. */
export class FoundServices {
  /** The ports of each in the query; undefined: all. */
  private readonly ports = new Map<ServiceKey, Set<string> | undefined>();

  /** @param unknown the names without a namespace that no known Service has */
  constructor(
    private readonly asked: readonly ServiceName[],
    readonly unknown: readonly UnknownName[] = [],
  ) {}

  get keys(): readonly ServiceKey[] {
    return [...this.ports.keys()];
  }

  /** All Services are meant, and what is of none. */
  get isAll(): boolean {
    return this.asked.length === 0;
  }

  add(key: ServiceKey, port: string | undefined): void {
    const before = this.ports.get(key);
    if (port === undefined || (this.ports.has(key) && before === undefined)) this.ports.set(key, undefined);
    else this.ports.set(key, new Set(before).add(port));
  }

  /** Whether the query includes this port of a Service. */
  hasPort(key: ServiceKey, port: string): boolean {
    if (this.isAll) return true;
    return this.ports.has(key) && (this.ports.get(key)?.has(port) ?? true);
  }

  /** The ports of a Service in the query; none: all. */
  portsOf(key: ServiceKey): readonly string[] {
    return [...(this.ports.get(key) ?? [])];
  }

  /** As parameters of a question: none for all Services, and one of no Service where none was found. */
  get parameters(): URLSearchParams {
    const keys = !this.isAll && this.ports.size === 0 ? ['/'] : this.keys;
    return new URLSearchParams(keys.map((key): [string, string] => ['service', key]));
  }

  /**
   * The answer, with the names of which nothing is known.
   * @param told the service ports in the answer: the others may not exist
   */
  async withUnknown<Answer extends object>(
    proxy: RunningProxy,
    answer: Answer,
    told: readonly ServiceAndPort[],
  ): Promise<Answer & AboutUnknown> {
    if (this.isAll) return answer;
    const silent = this.keys.filter((key) => !told.some(({ service }) => service === key));
    const { unknown } = silent.length > 0 ? await listServices(proxy, ofNames(silent)) : { unknown: [] };
    const isTold = ({ service, port }: ServiceName): boolean =>
      told.some(
        (one) => one.port === port && (one.service === service || one.service.endsWith(`/${service}`)),
      );
    const ports = await unknownPorts(
      proxy,
      this.asked.filter((name) => !isTold(name)),
    );
    return { ...answer, unknown: [...this.unknown, ...unknown, ...ports] };
  }
}

/** The Services of these names. Only names without a namespace are looked up; the answer shows whether the others exist. */
export async function findServices(
  proxy: RunningProxy,
  names: readonly ServiceName[],
): Promise<FoundServices> {
  const loose = names.filter(({ service }) => !service.includes('/'));
  const filter = ofNames(loose.map(({ service }) => service));
  const list = loose.length > 0 ? await listServices(proxy, filter) : undefined;
  const found = new FoundServices(names, list?.unknown);
  for (const { service, port } of names)
    if (service.includes('/')) found.add(service, port);
    else
      for (const { namespace, name } of list?.services ?? [])
        if (name === service) found.add(serviceKey(namespace, name), port);
  return found;
}

/** Characters of names in one URL: a server takes 16 KiB of headers. */
export const LONGEST_QUERY = 8_000;

/** Those of these names, whatever their state; of none, all. */
export function ofNames(names: readonly string[], namespace?: string): RowFilter {
  return { ...(namespace !== undefined && { namespace }), names, failing: false, withoutEndpoints: false };
}

/**
 * The Services that the proxy knows, in as many requests as the names need. A namespace of which it knows none is among the
 * unknown names, if no name is asked for.
 */
export async function listServices(proxy: RunningProxy, filter: RowFilter): Promise<ServiceList> {
  const lists: ServiceList[] = [];
  for (const names of portionsOf(filter.names)) lists.push(await request(proxy, { ...filter, names }));
  const list = lists.length === 1 ? lists[0]! : joined(lists);
  const { namespace, names } = filter;
  if (namespace === undefined || names.length > 0 || list.services.length > 0) return list;
  return (await isKnown(proxy, namespace))
    ? list
    : {
        services: [],
        unknown: [
          {
            name: namespace,
            reason:
              'no Service of this namespace is delivered to this node; headless ones and those of other proxies may not be',
          },
        ],
      };
}

async function isKnown(proxy: RunningProxy, namespace: string): Promise<boolean> {
  const all = await request(proxy, ofNames([], namespace));
  return all.services.length > 0;
}

function request(
  proxy: RunningProxy,
  { namespace, names, failing, withoutEndpoints }: RowFilter,
): Promise<ServiceList> {
  const parameters = new URLSearchParams(names.map((name): [string, string] => ['name', name]));
  if (namespace !== undefined) parameters.set('namespace', namespace);
  if (failing) parameters.set('failing', 'true');
  if (withoutEndpoints) parameters.set('without-endpoints', 'true');
  return proxy.ask(`/debug/services?${parameters.toString()}`, servicesAnswer);
}

/** At least one portion, even of no names. */
function portionsOf(names: readonly string[]): readonly (readonly string[])[] {
  const portions: string[][] = [[]];
  let length = 0;
  for (const name of names) {
    length += encodeURIComponent(name).length + '&name='.length;
    if (length > LONGEST_QUERY) {
      portions.push([]);
      length = 0;
    }
    portions.at(-1)!.push(name);
  }
  return portions;
}

/** In the order of one list, each Service once. */
function joined(lists: readonly ServiceList[]): ServiceList {
  const rows = new Map<string, ServiceRow>();
  for (const { services } of lists)
    for (const row of services) rows.set(`${row.namespace}\0${row.name}`, row);
  const isLast = ({ state }: ServiceRow): number => Number(state === 'not-served');
  return {
    services: [...rows]
      .sort(([one, first], [other, second]) => isLast(first) - isLast(second) || (one < other ? -1 : 1))
      .map(([, row]) => row),
    unknown: lists.flatMap(({ unknown }) => unknown),
  };
}

/** The names whose port no Service of the name has. No query if no name has a port. */
export async function unknownPorts(
  proxy: RunningProxy,
  names: readonly ServiceName[],
  namespace?: string,
): Promise<readonly UnknownName[]> {
  const services = names.flatMap(({ service, port }) => (port === undefined ? [] : service));
  if (services.length === 0) return [];
  const { services: rows } = await listServices(proxy, ofNames(services, namespace));
  return missingPorts(names, rows);
}

/** The same, where the list has all Services of these names. */
export function missingPorts(
  names: readonly ServiceName[],
  rows: readonly ServiceRow[],
): readonly UnknownName[] {
  const ofPorts = names.filter(({ port }) => port !== undefined);
  return ofPorts.flatMap((name) =>
    missingPort(
      name,
      rows.filter((row) => name.service === row.name || name.service === `${row.namespace}/${row.name}`),
    ),
  );
}

/** @param rows those of the Service; of one that is not served no ports are known */
function missingPort(
  { service, port = '' }: ServiceName,
  rows: readonly ServiceRow[],
): readonly UnknownName[] {
  const ports = rows.flatMap((row) => row.ports ?? []);
  const isKnown = rows.every(({ state }) => state !== 'not-served');
  if (rows.length === 0 || !isKnown || ports.includes(port)) return [];
  const known = ports.length > 0 ? `it has: ${[...new Set(ports)].join(', ')}` : 'its only port has no name';
  return [{ name: nameText({ service, port }), reason: `it has no port named ${port} (${known})` }];
}

/** Says what is known of names that no known Service has. Returns whether there are any. */
export function reportUnknown(unknown: readonly UnknownName[] = []): boolean {
  for (const { name, reason } of unknown) printError(`${name}: ${reason}`);
  return unknown.length > 0;
}
