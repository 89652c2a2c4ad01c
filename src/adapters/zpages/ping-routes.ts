import { respond, TEXT_TYPE, type Routes } from '../http/router.js';

/** Counts health checks. */
export interface CheckObserver {
  checked(type: string, name: string, ok: boolean): void;
}

/**
 * `/healthz` of the metrics server: shows that the process responds, not that the proxy is healthy (docs/spec/server.md §9).
 * The only check, `ping`, always passes; `?verbose` lists it and `?exclude=ping` excludes it.
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
