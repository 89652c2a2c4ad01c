import type { IncomingMessage } from 'node:http';
import { HTML_TYPE, respond, TEXT_TYPE, type Handler, type Routes } from '../http/router.js';
const LONGEST_BODY = 1024;

/** `/debug/flags`: flags that can be changed at run time, which is only the log verbosity (docs/spec/server.md §9). */
export function logFlagRoutes(setVerbosity: (verbosity: number) => void): Routes {
  const index: Handler = (_, response) =>
    respond(
      response,
      200,
      HTML_TYPE,
      '<html><head><title>/debug/flags/</title></head><body><p>/debug/flags/</p><a href="/debug/flags/v">v</a></body></html>\n',
    );
  return {
    '/debug/flags': index,
    '/debug/flags/': index,
    '/debug/flags/v': async ({ method, request }, response) => {
      if (method !== 'PUT')
        return respond(response, 406, TEXT_TYPE, `PUT sets the verbosity; ${method} does nothing\n`);
      const text = (await readBody(request)).trim();
      if (!/^-?\d{1,9}$/.test(text))
        return respond(
          response,
          400,
          TEXT_TYPE,
          `the verbosity must be a whole number, not ${JSON.stringify(text)}\n`,
        );
      setVerbosity(Number(text));
      respond(response, 200, TEXT_TYPE, `successfully set klog.logging.verbosity to ${text}`);
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > LONGEST_BODY) break;
  }
  return text;
}
