/** Finds the Services, and their ports, that a command line names. */

import {
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

/** The Services that a command line names, and the ports of each. */
export class FoundServices {
  /** The ports of each that are named; undefined: all. */
  private readonly ports = new Map<ServiceKey, Set<string> | undefined>();
  /** The names of Services and ports that the proxy does not know. */
  readonly unknown: readonly UnknownName[];

  /** @param list the Services of these names */
  constructor(
    private readonly names: readonly ServiceName[],
    { services, unknownNames }: ServiceList = { services: [], unknownNames: [] },
  ) {
    this.unknown = [...unknownNames, ...missingPorts(names, services)];
    for (const name of names)
      if (name.service.includes('/')) this.add(name.service, name.port);
      else for (const row of services) if (row.name === name.service) this.add(keyOf(row), name.port);
  }

  get keys(): readonly ServiceKey[] {
    return [...this.ports.keys()];
  }

  /** No Service is named, which means all Services, and what belongs to none. */
  get isAll(): boolean {
    return this.names.length === 0;
  }

  /** Whether this port of a Service is named. */
  hasPort(key: ServiceKey, port: string): boolean {
    return this.isAll || (this.ports.has(key) && (this.ports.get(key)?.has(port) ?? true));
  }

  /** The ports of a Service that are named; none: all. */
  portsOf(key: ServiceKey): readonly string[] {
    return [...(this.ports.get(key) ?? [])];
  }

  /** As parameters of a request: none for all Services, and one of no Service where none was found. */
  get parameters(): URLSearchParams {
    const keys = !this.isAll && this.ports.size === 0 ? ['/'] : this.keys;
    return new URLSearchParams(keys.map((key): [string, string] => ['service', key]));
  }

  /** The unknown names, without those of service ports that an answer reports although they no longer exist. */
  unknownBut(reported: readonly ServiceAndPort[]): readonly UnknownName[] {
    const texts = reported.flatMap(({ service, port }) => [service, nameText({ service, port })]);
    return this.unknown.filter(
      ({ name }) => !texts.some((text) => text === name || text.endsWith(`/${name}`)),
    );
  }

  private add(key: ServiceKey, port: string | undefined): void {
    const before = this.ports.get(key);
    if (port === undefined || (this.ports.has(key) && before === undefined)) this.ports.set(key, undefined);
    else this.ports.set(key, new Set(before).add(port));
  }
}

/** The Services of these names, without a namespace in all namespaces or in this one. */
export async function findServices(
  proxy: RunningProxy,
  names: readonly ServiceName[],
  namespace?: string,
): Promise<FoundServices> {
  if (names.length === 0 && namespace === undefined) return new FoundServices(names);
  return new FoundServices(names, await listServices(proxy, ofNames(names, namespace)));
}

/** The same for commands whose answer reports that a Service does not exist: names with a namespace alone need no request. */
export function findKeys(proxy: RunningProxy, names: readonly ServiceName[]): Promise<FoundServices> {
  const isFull = names.every(({ service }) => service.includes('/'));
  return isFull ? Promise.resolve(new FoundServices(names)) : findServices(proxy, names);
}

/** Those of these names, whatever their state; of none, all. */
export function ofNames(names: readonly ServiceName[], namespace?: string): RowFilter {
  return {
    ...(namespace !== undefined && { namespace }),
    names: names.map(({ service }) => service),
    problems: false,
  };
}

/** The Services that the proxy knows. Without names, a namespace of which it knows none is among the unknown names. */
export async function listServices(proxy: RunningProxy, filter: RowFilter): Promise<ServiceList> {
  const list = await requestList(proxy, filter);
  const { namespace, names } = filter;
  if (namespace === undefined || names.length > 0 || list.services.length > 0) return list;
  const { services: all } = await requestList(proxy, ofNames([], namespace));
  const reason =
    'no proxied Service is in this namespace; headless Services and those of other proxies are not listed';
  return all.length > 0 ? list : { services: [], unknownNames: [{ name: namespace, reason }] };
}

function requestList(proxy: RunningProxy, { namespace, names, problems }: RowFilter): Promise<ServiceList> {
  const parameters = new URLSearchParams(names.map((name): [string, string] => ['name', name]));
  if (namespace !== undefined) parameters.set('namespace', namespace);
  if (problems) parameters.set('problems', 'true');
  return proxy.query(`/debug/services?${parameters.toString()}`, servicesAnswer);
}

/** The names whose port no Service of the name has. Of one that is not served no ports are known. @param rows all Services of these names */
export function missingPorts(
  names: readonly ServiceName[],
  rows: readonly ServiceRow[],
): readonly UnknownName[] {
  return names.flatMap(({ service, port }) => {
    const its = rows.filter((row) => service === row.name || service === keyOf(row));
    const ports = its.flatMap((row) => row.portNames ?? []);
    const isKnown = its.length > 0 && its.every(({ frontends }) => frontends.length > 0);
    if (port === undefined || !isKnown || ports.includes(port)) return [];
    const known =
      ports.length > 0 ? `it has: ${[...new Set(ports)].join(', ')}` : 'its only port has no name';
    return [{ name: nameText({ service, port }), reason: `it has no port named ${port} (${known})` }];
  });
}

function keyOf({ namespace, name }: ServiceRow): ServiceKey {
  return serviceKey(namespace, name);
}

/** Prints what is known of names that no known Service has. Returns whether there are any. */
export function reportUnknown(unknown: readonly UnknownName[] = []): boolean {
  for (const { name, reason } of unknown) printError(`${name}: ${reason}`);
  return unknown.length > 0;
}
