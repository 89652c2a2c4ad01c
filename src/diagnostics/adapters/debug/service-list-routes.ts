import { pipeline } from 'node:stream/promises';
import type { ListServices } from '../../application/status/list-services.js';
import type { RowFilter } from '../../application/status/service-row.js';
import { JSON_TYPE, type Routes } from '../../../adapters/http/router.js';

/**
 * `/debug/services?namespace=&name=&name=&failing=true&without-endpoints=true`: a `ServiceList`, written portion by
 * portion while it is made. 200 also if names are unknown.
 */
export function serviceListRoutes(list: ListServices): Routes {
  return {
    '/debug/services': async ({ parameters }, response) => {
      response.writeHead(200, { 'Content-Type': JSON_TYPE, 'X-Content-Type-Options': 'nosniff' });
      try {
        await pipeline(jsonOf(list, filterOf(parameters)), response);
      } catch (error) {
        // The client has gone, and wants no more rows.
        if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
      }
    },
  };
}

/** A `ServiceList` as JSON, in pieces. */
async function* jsonOf(list: ListServices, filter: RowFilter): AsyncGenerator<string> {
  const { services, unknown } = await list.unserved(filter);
  yield '{"services":[';
  let isFirst = true;
  for await (const rows of concatenated(list.rows(filter), services)) {
    const text = rows.map((row) => JSON.stringify(row)).join(',');
    if (text === '') continue;
    yield isFirst ? text : `,${text}`;
    isFirst = false;
  }
  yield `],"unknown":${JSON.stringify(unknown)}}`;
}

async function* concatenated<T>(portions: AsyncIterable<T>, last: T): AsyncGenerator<T> {
  yield* portions;
  yield last;
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
