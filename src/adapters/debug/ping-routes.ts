import { respond, TEXT_TYPE } from '../http/plain-response.js';
import type { Routes } from '../http/router.js';

/** Is told of checks that were made. */
export interface CheckObserver {
  checked(type: string, name: string, ok: boolean): void;
}

/**
 * `/healthz` of the metrics server: that the process answers, which says nothing about the proxy's health (docs/spec/server.md §9).
 * The one check, `ping`, always passes; `?verbose` lists it and `?exclude=ping` leaves it out.
 */
export function pingRoutes(observer: CheckObserver): Routes {
  return {
    '/healthz': ({ parameters }, response) => {
      const excluded = new Set(parameters.getAll('exclude').filter((name) => name !== ''));
      const lines = [excluded.delete('ping') ? '[+]ping excluded: ok' : '[+]ping ok'];
      if (lines[0] === '[+]ping ok') observer.checked('healthz', 'ping', true);
      if (excluded.size > 0) {
        const names = [...excluded].sort().map((name) => JSON.stringify(name));
        lines.push(`warn: some health checks cannot be excluded: no matches for ${names.join(', ')}`);
      }
      const text = `${lines.join('\n')}\nhealthz check passed\n`;
      respond(response, 200, TEXT_TYPE, parameters.has('verbose') ? text : 'ok');
    },
    '/healthz/ping': (_, response) => respond(response, 200, TEXT_TYPE, 'ok'),
  };
}
