/** The command `services`: the Services that the proxy on this node serves. */

import { exitCodeOf } from '../../../../adapters/cli/exit-code.js';
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
import type { VerdictState } from '../../../../domain/verdict/verdict.js';
import { findServices, listServices, ofNames, missingPorts } from '../find-services.js';
import { whenChanged, tableText, show } from '../watch.js';
import { RunningProxy } from '../running-proxy.js';

/** Which Services to list. */
export const servicesCommand = subcommand({
  name: 'services',
  description:
    'List the Services that the proxy on this node serves, or those of these names, each with its state and the reason.',
  summary: 'List Services with their state and the reason.',
  usage: '[NAME...] [flags]',
  options: [
    ...namespaceOptions,
    new Option('--problems', 'Only Services that are not ok.'),
    watchOption,
    ...listOutputOptions,
  ],
  request(
    operands,
    { output, watch, ...filter }: Partial<Omit<RowFilter, 'names'>> & OutputOptions & WatchOptions,
  ) {
    const { namespace, problems = false } = filter;
    const named = serviceNames('services', operands);
    return { services: named, filter: { namespace, problems }, output, watch };
  },
});

const HEADERS = ['NAMESPACE', 'NAME', 'TYPE', 'ENDPOINTS', 'STATE', 'FRONTENDS', 'REASON'];

/** A row that was there before is removed. */
type WatchedRow = Omit<ServiceRow, 'state'> & { readonly state: VerdictState | 'removed' };

/**
 * Lists the Services of the proxy running on this node, a line for each. 1 when one of them is not ok, or no known Service has a
 * name, or is of the namespace.
 */
export function services({ request, configuration }: Invocation<typeof servicesCommand>): Promise<number> {
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const query = () => listKnown(proxy, request);
  return show<ServiceList, WatchedRow>(request, request.watch ? whenChanged(proxy, query) : query, {
    lines: serviceListLines,
    names: ({ services: rows }) => rows.map(nameOf),
    exitCode: ({ services: rows }) => exitCodeOf(rows.some(({ state }) => state !== 'ok')),
    watched: ({ services: items }) => ({
      items,
      key: ({ namespace, name }) => `${namespace}/${name}`,
      gone: ({ cause: _, nextStep: __, ...row }) => ({ ...row, state: 'removed', reason: 'it was removed' }),
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
  const ports = filter.problems
    ? (await findServices(proxy, named, namespace)).unknown.filter(({ name }) => name.includes(':'))
    : missingPorts(named, list.services);
  return { services: list.services, unknownNames: [...list.unknownNames, ...ports] };
}

function nameOf({ name }: Pick<ServiceRow, 'name'>): string {
  return objectName('service', name);
}

/** One line a Service; nothing where only unknown names are listed. */
export function serviceListLines(
  { services: rows, unknownNames }: ServiceList,
  isWide: boolean,
): readonly string[] {
  return rows.length === 0 && unknownNames.length > 0 ? [] : table(rows, isWide);
}

function table(rows: readonly WatchedRow[], isWide: boolean): readonly string[] {
  return columns(
    HEADERS,
    rows.map((row) => cells(row, isWide)),
  );
}

function cells(row: WatchedRow, isWide: boolean): readonly string[] {
  const { namespace, name, type = '-', frontends, endpointCounts, state, reason } = row;
  const shown = frontends.length === 0 ? ['-'] : isWide ? frontends : frontends.slice(0, 1);
  const more = frontends.length - shown.length;
  return [
    namespace,
    name,
    type,
    `${endpointCounts.used}/${endpointCounts.known}${ejectedCountText(endpointCounts.ejected)}`,
    inToneOf(state),
    `${shown.join(', ')}${more > 0 ? ` +${more}` : ''}`,
    reason,
  ];
}
