import type { ServiceList, ServiceRow } from '../../../application/status/service-row.js';
import type { Asked } from '../../configuration/command-line.js';
import { columns } from '../output/columns.js';
import { formatted } from '../output/formatted.js';
import { print } from '../output/print.js';
import { RunningProxy } from './running-proxy.js';

const HEADERS = ['NAMESPACE', 'NAME', 'TYPE', 'ENDPOINTS', 'STATE', 'FRONTENDS'];

/** Asks the proxy running on this node for its Services, and prints a line for each. 1 when no known Service has a name. */
export async function services({ request, configuration }: Asked<'services'>): Promise<number> {
  const { namespace, names, failing, withoutEndpoints, output } = request;
  const parameters = new URLSearchParams(names.map((name): [string, string] => ['name', name]));
  if (namespace !== undefined) parameters.set('namespace', namespace);
  if (failing) parameters.set('failing', 'true');
  if (withoutEndpoints) parameters.set('without-endpoints', 'true');
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const list = await proxy.ask<ServiceList>(`/debug/service-list?${parameters.toString()}`);
  await print(formatted(output, list, listText));
  for (const { name, reason } of list.unknown) process.stderr.write(`${name}: ${reason}\n`);
  return list.unknown.length === 0 ? 0 : 1;
}

function listText({ services: rows, unknown }: ServiceList, isWide: boolean): string {
  if (rows.length === 0 && unknown.length > 0) return '';
  return columns(
    HEADERS,
    rows.map((row) => cells(row, isWide)),
  );
}

function cells(row: ServiceRow, isWide: boolean): readonly string[] {
  const { namespace, name, type = '-', frontends, endpoints, state, reason } = row;
  const shown = frontends.length === 0 ? ['-'] : isWide ? frontends : frontends.slice(0, 1);
  const more = frontends.length - shown.length;
  const text = `${shown.join(', ')}${more > 0 ? ` +${more}` : ''}`;
  return [
    namespace,
    name,
    type,
    `${endpoints.used}/${endpoints.known}`,
    state.replace('-', ' '),
    reason === undefined ? text : `${text} (${reason})`,
  ];
}
