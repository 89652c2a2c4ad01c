import { createInterface } from 'node:readline';
import { StandInApiServer } from '../../test/support/api-server/api-server.js';
import { Answer } from '../../test/support/api-server/answer.js';
import type { ApiObject } from '../../test/support/api-server/object-store.js';
import { writeKubeconfig } from '../../test/support/api-server/kubeconfig.js';
import { endpointSlice, node, replacementAddress, service, serviceCidr } from '../cluster.js';
import { stored } from '../stored.js';
import { now, Probe, until } from './probe.js';

/* The stand-in API server with a synthetic cluster, of which the last Service has one endpoint: `node api-server.js SERVICES ENDPOINTS`.
 * Prints the file of its kubeconfig. Each line of input is a command with numbers, the response a line of JSON.
 * Moments are null if something did not happen within LIMIT milliseconds.
 */

const [services = 1000, endpoints = 5] = process.argv.slice(2).map(Number);
const api = await StandInApiServer.start();
api.clusterRole = undefined;
const put = (object: object): void => void api.put(stored(object) as unknown as ApiObject);
put(node());
put(serviceCidr());
for (let index = 0; index < services; index++) {
  put(service(index));
  put(endpointSlice(index, index === services - 1 ? 1 : endpoints));
}
encodeAll();
api.compact();
const probe = await Probe.open(services);
console.log(await writeKubeconfig(api));

let generation = 0;
const commands = {
  /** One endpoint of COUNT services, one every PERIOD milliseconds. */
  replace: replaceEndpoints,
  /** The moment when /healthz of the proxy on the same host responds with 200. */
  healthy: (limit: number) => until(isHealthy, limit),
  /** The moment when connections to all Services are possible. */
  served: (limit: number) => probe.untilAllServed(limit),
  /** Replaces the endpoint of the last Service. When it was sent, and when a connection reaches the new one. */
  move,
  /** How many requests clients have made. */
  requests: () => api.requests.length,
};
export type Commands = typeof commands;
for await (const line of createInterface({ input: process.stdin })) {
  const [command, ...numbers] = line.split(' ');
  const run = commands[command as keyof Commands] as (...numbers: number[]) => unknown;
  console.log(JSON.stringify((await run(...numbers.map(Number))) ?? null));
}
probe.close();
await api.close();

/** So that the first watch gets its objects as quickly as every other one. */
function encodeAll(): void {
  const watch = new Answer(
    { headers: { accept: 'application/vnd.kubernetes.protobuf' } } as never,
    {} as never,
    true,
  );
  for (const [apiVersion, kind] of [
    ['v1', 'Service'],
    ['discovery.k8s.io/v1', 'EndpointSlice'],
  ] as const)
    for (const object of api.objects(apiVersion, kind)) watch.event('ADDED', object);
}

async function isHealthy(): Promise<boolean> {
  const signal = AbortSignal.timeout(1_000);
  const response = await fetch('http://127.0.0.1:10256/healthz', { signal }).catch(() => undefined);
  return response?.ok ?? false;
}

async function move(limit: number): Promise<{ sent: number; reached: number | null }> {
  const last = services - 1;
  const slice = endpointSlice(last, 1, ++generation);
  const sent = now();
  put(slice);
  return { sent, reached: await probe.untilReached(last, replacementAddress(generation), limit) };
}

/** Sends what is due, however late a timer comes, so that the rate holds. */
async function replaceEndpoints(count: number, period: number): Promise<void> {
  const began = performance.now();
  for (let sent = 0; sent < count;) {
    const due = Math.min(count, period > 0 ? Math.floor((performance.now() - began) / period) + 1 : count);
    for (; sent < due; sent++) {
      generation++;
      put(endpointSlice((generation * 7919) % services, endpoints, generation % 100_000));
    }
    await new Promise((resolve) => setTimeout(resolve, Math.max(1, period)));
  }
}
