import { servicesAnswer } from '../../../application/status/service-row.js';
import type { RowFilter, ServiceList, ServiceRow } from '../../../application/status/service-row.js';
import type { RunningProxy } from './running-proxy.js';

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
