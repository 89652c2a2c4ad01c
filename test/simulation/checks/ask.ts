import type { Explanation } from '../../../src/diagnostics/application/explain/explanation.js';
import { getOrMake } from '../../../src/domain/model/maps.js';
import { Agent, request } from '../replaced/node-http.js';
import type { World } from '../world/world.js';

/** Ports on which the program answers. */
export const METRICS = 10_249;
export const HEALTH = 10_256;

/** Milliseconds. */
const LIMIT = 20_000;

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Whoever asks in a world keeps connections, as long as the program does. */
const AGENTS = new WeakMap<World, Agent>();

/** Asks the program over HTTP, as probes and people do. Time goes on meanwhile. */
export async function ask(world: World, port: number, path: string, host = '127.0.0.1'): Promise<Answer> {
  let answer: Answer | undefined;
  let failure: Error | undefined;
  const { scheduler } = world;
  scheduler.as(world.fate, () => {
    const agent = getOrMake(AGENTS, world, () => new Agent({ keepAlive: true }));
    const sent = request({ host, port, path, agent, headers: { host: `127.0.0.1:${port}` } });
    sent.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => (body += piece));
      response.on('end', () => (answer = { status: response.statusCode ?? 0, body }));
    });
    sent.on('error', (error) => (failure = error));
    sent.end();
  });
  await scheduler.runUntil(world.now + LIMIT, () => answer !== undefined || failure !== undefined);
  if (answer) return answer;
  throw new Error(`no answer to ${path} on port ${port}: ${failure?.message ?? 'nothing within 20 s'}`);
}

/** Whether the program says that all ports of a Service are programmed as requested, whatever else it finds. */
export async function isProgrammed(world: World, service: string): Promise<boolean> {
  const { body } = await ask(world, METRICS, `/debug/explain?subject=${encodeURIComponent(service)}`);
  const { families } = JSON.parse(body) as Explanation;
  return families.every(
    ({ pending, absence, ports }) =>
      !pending && absence?.cause === undefined && ports.every(({ status }) => status.state === 'programmed'),
  );
}
