import { createInterface } from 'node:readline';
import { StandInApiServer } from '../../test/support/api-server/api-server.js';
import { Answer } from '../../test/support/api-server/answer.js';
import type { ApiObject } from '../../test/support/api-server/object-store.js';
import { writeKubeconfig } from '../../test/support/api-server/kubeconfig.js';
import { endpointSlice, node, service, serviceCidr } from '../cluster.js';
import { stored } from '../stored.js';

/* The stand-in API server with a synthetic cluster: `node api-server.js SERVICES ENDPOINTS`. Prints the file of its kubeconfig.
 * Commands, a line each, answered by "done":
 * - `replace COUNT PERIOD`: one endpoint of COUNT services, one every PERIOD milliseconds.
 * - `ready`: waits until the proxy on the same host is.
 */

const [services = 1000, endpoints = 5] = process.argv.slice(2).map(Number);
const api = await StandInApiServer.start();
api.clusterRole = undefined;
const put = (object: object): void => void api.put(stored(object) as unknown as ApiObject);
put(node());
put(serviceCidr());
for (let index = 0; index < services; index++) {
  put(service(index));
  put(endpointSlice(index, endpoints));
}
encodeAll();
api.compact();
console.log(await writeKubeconfig(api));

let generation = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const [command, ...numbers] = line.split(' ');
  if (command === 'ready') await untilReady();
  else await replaceEndpoints(...(numbers.map(Number) as [number, number]));
  console.log('done');
}
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

async function untilReady(): Promise<void> {
  for (;;) {
    const response = await fetch('http://127.0.0.1:10256/readyz').catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
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
