import { once } from 'node:events';
import type { ListServices } from '../../application/status/list-services.js';
import type { RowFilter } from '../../application/status/service-row.js';
import { JSON_TYPE } from '../http/plain-response.js';
import type { Routes } from '../http/router.js';

/**
 * `/debug/service-list?namespace=&name=&name=&failing=true&without-endpoints=true`: a `ServiceList`, written portion by
 * portion while it is made. 200 also if names are unknown.
 */
export function serviceListRoutes(list: ListServices): Routes {
  return {
    '/debug/service-list': async ({ parameters }, response) => {
      const filter = filterOf(parameters);
      response.writeHead(200, { 'Content-Type': JSON_TYPE, 'X-Content-Type-Options': 'nosniff' });
      const write = async (text: string): Promise<void> => {
        // A client that is gone drains nothing.
        if (!response.write(text) && !response.destroyed)
          await Promise.race([once(response, 'drain'), once(response, 'close')]);
      };
      const { services, unknown } = await list.unserved(filter);
      let separator = '{"services":[';
      const writeRows = async (rows: readonly object[]): Promise<void> => {
        if (rows.length === 0) return;
        await write(separator + rows.map((row) => JSON.stringify(row)).join(','));
        separator = ',';
      };
      for await (const rows of list.rows(filter)) {
        if (response.destroyed) return;
        await writeRows(rows);
      }
      await writeRows(services);
      response.end(`${separator === ',' ? '' : separator}],"unknown":${JSON.stringify(unknown)}}`);
    },
  };
}

function filterOf(parameters: URLSearchParams): RowFilter {
  const namespace = parameters.get('namespace') ?? '';
  return {
    ...(namespace !== '' && { namespace }),
    names: parameters.getAll('name'),
    failing: parameters.get('failing') === 'true',
    withoutEndpoints: parameters.get('without-endpoints') === 'true',
  };
}
