/** The command `services`: the Services that the proxy on this node serves. */

import type { Invocation, RequestOf } from '../options.js';
import { Option } from 'commander';
import type { RowFilter, ServiceList, ServiceRow } from '../../../application/status/service-row.js';
import {
  namespaceOptions,
  serviceNames,
  listOutputOptions,
  subcommand,
  watchOption,
  type OutputOptions,
  type WatchOptions,
} from '../options.js';
import { inToneOf, columns, objectName } from '../output.js';
import { ejectedCountText } from '../../../../application/words.js';
import { lacksEndpoints, rowWord } from '../../../application/words.js';
import { findServices, listServices, ofNames, missingPorts } from '../find-services.js';
import { whenChanged, tableText, show } from '../watch.js';
import { RunningProxy } from '../running-proxy.js';

/** Which Services to list. */
export const servicesCommand = subcommand({
  name: 'services',
  description: 'List the Services that the proxy running on this node serves, or those of these names.',
  usage: '[NAME...] [flags]',
  options: [
    ...namespaceOptions,
    new Option('--failing', 'Only Services of which a port failed to be programmed, or is degraded.'),
    new Option('--without-endpoints', 'Only Services without an endpoint that can be used.'),
    watchOption,
    ...listOutputOptions,
  ],
  request(
    operands,
    { output, watch, ...filter }: Partial<Omit<RowFilter, 'names'>> & OutputOptions & WatchOptions,
  ) {
    const { namespace, failing = false, withoutEndpoints = false } = filter;
    const named = serviceNames('services', operands);
    return { services: named, filter: { namespace, failing, withoutEndpoints }, output, watch };
  },
});

const HEADERS = ['NAMESPACE', 'NAME', 'TYPE', 'ENDPOINTS', 'STATE', 'FRONTENDS'];

/**
 * Lists the Services of the proxy running on this node, a line for each. 1 when no known Service has a
 * name, or is of the namespace.
 */
export function services({ request, configuration }: Invocation<typeof servicesCommand>): Promise<number> {
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const query = () => listKnown(proxy, request);
  return show<ServiceList, ServiceRow>(request, request.watch ? whenChanged(proxy, query) : query, {
    lines: listText,
    names: ({ services: rows }) => rows.map(nameOf),
    exitCode: () => 0,
    watched: ({ services: items }) => ({
      items,
      key: ({ namespace, name }) => `${namespace}/${name}`,
      gone: (row) => ({ ...row, state: 'removed' as const }),
      text: (rows, isWide) => tableText(table(rows, isWide)),
      name: nameOf,
    }),
  });
}

/** With names of ports that no Service has among the unknown. */
async function listKnown(
  proxy: RunningProxy,
  { services: named, filter }: RequestOf<typeof servicesCommand>,
): Promise<ServiceList> {
  const { namespace, ...rest } = filter;
  const list = await listServices(proxy, { ...ofNames(named, namespace), ...rest });
  const isPart = filter.failing || filter.withoutEndpoints;
  const ports = isPart
    ? (await findServices(proxy, named, namespace)).unknown.filter(({ name }) => name.includes(':'))
    : missingPorts(named, list.services);
  return { services: list.services, unknownNames: [...list.unknownNames, ...ports] };
}

function nameOf({ name }: ServiceRow): string {
  return objectName('service', name);
}

function listText({ services: rows, unknownNames }: ServiceList, isWide: boolean): readonly string[] {
  return rows.length === 0 && unknownNames.length > 0 ? [] : table(rows, isWide);
}

function table(rows: readonly ServiceRow[], isWide: boolean): readonly string[] {
  return columns(
    HEADERS,
    rows.map((row) => cells(row, isWide)),
  );
}

function cells(row: ServiceRow, isWide: boolean): readonly string[] {
  const { namespace, name, type = '-', frontends, endpointCounts, reason } = row;
  const shown = frontends.length === 0 ? ['-'] : isWide ? frontends : frontends.slice(0, 1);
  const more = frontends.length - shown.length;
  const text = `${shown.join(', ')}${more > 0 ? ` +${more}` : ''}`;
  return [
    namespace,
    name,
    type,
    `${endpointCounts.used}/${endpointCounts.known}${ejectedCountText(endpointCounts.ejected)}`,
    inToneOf(lacksEndpoints(row) ? rowWord(row) : row.state, rowWord(row)),
    reason === undefined ? text : `${text} (${reason})`,
  ];
}
