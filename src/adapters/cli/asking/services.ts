import { inToneOf } from '../output/tones.js';
import type { ServiceList, ServiceRow } from '../../../application/status/service-row.js';
import { asideCountWords } from '../../../application/words/aside-words.js';
import { lacksEndpoints, rowWord } from '../../../application/words/state-words.js';
import type { Asked } from '../command-line/subcommands.js';
import { columns } from '../output/columns.js';
import { formatted } from '../output/formatted.js';
import { print } from '../output/print.js';
import { listServices } from './list-services.js';
import { RunningProxy } from './running-proxy.js';
import { complainOf } from './unknown-service.js';

const HEADERS = ['NAMESPACE', 'NAME', 'TYPE', 'ENDPOINTS', 'STATE', 'FRONTENDS'];

/**
 * Asks the proxy running on this node for its Services, and prints a line for each. 1 when no known Service has a
 * name, or is of the namespace.
 */
export async function services({ request, configuration }: Asked<'services'>): Promise<number> {
  const list = await listServices(RunningProxy.at(configuration.metricsBindAddress), request);
  await print(formatted(request.output, list, listText));
  return complainOf(list.unknown) ? 1 : 0;
}

function listText({ services: rows, unknown }: ServiceList, isWide: boolean): readonly string[] {
  if (rows.length === 0 && unknown.length > 0) return [];
  return columns(
    HEADERS,
    rows.map((row) => cells(row, isWide)),
  );
}

function cells(row: ServiceRow, isWide: boolean): readonly string[] {
  const { namespace, name, type = '-', frontends, endpoints, reason } = row;
  const shown = frontends.length === 0 ? ['-'] : isWide ? frontends : frontends.slice(0, 1);
  const more = frontends.length - shown.length;
  const text = `${shown.join(', ')}${more > 0 ? ` +${more}` : ''}`;
  return [
    namespace,
    name,
    type,
    `${endpoints.used}/${endpoints.known}${asideCountWords(endpoints.aside)}`,
    inToneOf(lacksEndpoints(row) ? rowWord(row) : row.state, rowWord(row)),
    reason === undefined ? text : `${text} (${reason})`,
  ];
}
