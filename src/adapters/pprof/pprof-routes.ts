import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { grouped } from '../../domain/model/maps.js';
import { clientLeft, HTML_TYPE, respond, TEXT_TYPE, type Query, type Routes } from '../http/router.js';
import { ProfileBuilder } from './profile-builder.js';
import { ProfilerBusyError, type Profiler } from './profiler.js';

const compress = promisify(gzip);
const BINARY = 'application/octet-stream';
const DEFAULT_SECONDS = 30;

const LISTED = {
  cmdline: 'the command line',
  goroutine: 'active resources: sockets, timers, requests and processes that the event loop waits for',
  heap: 'live objects on the heap, by allocation site; ?gc=1 collects garbage first',
  profile: 'CPU profile; ?seconds= sets the duration',
  symbol: 'unused: profiles contain function names',
};

/** `/debug/pprof`: profiles that `go tool pprof` reads (docs/spec/server.md §9). There is no Go runtime, so there is no `trace`. */
export function pprofRoutes(profiler: Profiler): Routes {
  return {
    '/debug/pprof': (_, response) => {
      response.writeHead(302, { Location: '/debug/pprof/' });
      response.end();
    },
    '/debug/pprof/': ({ path }, response) => {
      if (path === '/debug/pprof/') return respond(response, 200, HTML_TYPE, index());
      const name = path.slice('/debug/pprof/'.length);
      respond(response, 404, TEXT_TYPE, `Unknown profile: ${JSON.stringify(name)}\n`);
    },
    '/debug/pprof/cmdline': (_, response) => respond(response, 200, TEXT_TYPE, process.argv.join('\0')),
    '/debug/pprof/symbol': (_, response) => respond(response, 200, TEXT_TYPE, 'num_symbols: 1\n'),
    '/debug/pprof/profile': (query, response) => answerCpu(profiler, query, response),
    '/debug/pprof/heap': async ({ parameters }, response) =>
      sendProfile(response, 'heap', await profiler.heap(Number(parameters.get('gc')) > 0)),
    '/debug/pprof/goroutine': ({ parameters }, response) => {
      const counts = activeResources();
      if (!(Number(parameters.get('debug')) > 0))
        return sendProfile(response, 'goroutine', countProfile(counts));
      const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
      const lines = [...counts].map(([name, count]) => `${count} @\n#\t${name}\n`);
      respond(response, 200, TEXT_TYPE, `goroutine profile: total ${total}\n${lines.join('\n')}`);
    },
  };
}

async function answerCpu(profiler: Profiler, { parameters }: Query, response: ServerResponse): Promise<void> {
  const asked = parameters.get('seconds') ?? '';
  const seconds = /^\d{1,4}$/.test(asked) && Number(asked) > 0 ? Number(asked) : DEFAULT_SECONDS;
  try {
    await sendProfile(response, 'profile', await profiler.cpu(seconds, clientLeft(response)));
  } catch (error) {
    if (!(error instanceof ProfilerBusyError)) throw error;
    respond(response, 500, TEXT_TYPE, `${error.message}\n`);
  }
}

async function sendProfile(response: ServerResponse, name: string, profile: Uint8Array): Promise<void> {
  const body = await compress(profile);
  response.setHeader('Content-Disposition', `attachment; filename="${name}"`);
  respond(response, 200, BINARY, body);
}

function activeResources(): ReadonlyMap<string, number> {
  const byName = grouped(process.getActiveResourcesInfo(), (name) => name);
  return new Map([...byName].map(([name, { length }]) => [name, length]));
}

function countProfile(counts: ReadonlyMap<string, number>): Uint8Array {
  const builder = new ProfileBuilder([{ type: 'goroutine', unit: 'count' }]);
  for (const [name, count] of counts) builder.add([{ functionName: name, url: '', lineNumber: -1 }], [count]);
  return builder.build(1, Date.now(), 0);
}

function index(): string {
  const rows = Object.entries(LISTED).map(
    ([name, what]) => `<li><a href="${name}">${name}</a>: ${what}</li>`,
  );
  return `<html><head><title>/debug/pprof/</title></head><body><p>/debug/pprof/</p><ul>${rows.join('')}</ul></body></html>\n`;
}
