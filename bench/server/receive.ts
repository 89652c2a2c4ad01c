import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:https';
import { dirname, join } from 'node:path';

/* How long a client needs just to receive the lists of Services and EndpointSlices: `node receive.js KUBECONFIG` prints
 * Received as one line of JSON.
 */

export interface Received {
  readonly milliseconds: number;
  readonly bytes: number;
}

const LISTS = ['/api/v1/services', '/apis/discovery.k8s.io/v1/endpointslices'];
const QUERY =
  'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=';
const SELECTORS = ['!service.kubernetes.io/headless', '!service.kubernetes.io/headless'];
const LIST_END = 'k8s.io/initial-events-end';

const [kubeconfig = ''] = process.argv.slice(2);
const { clusters } = JSON.parse(readFileSync(kubeconfig, 'utf8')) as {
  clusters: readonly [{ cluster: { server: string } }];
};
const agent = new Agent({ ca: readFileSync(join(dirname(kubeconfig), 'ca.crt')) });
const began = performance.now();
const sizes = await Promise.all(LISTS.map((path, index) => receive(path, SELECTORS[index]!)));
const bytes = sizes.reduce((sum, size) => sum + size, 0);
console.log(JSON.stringify({ milliseconds: performance.now() - began, bytes } satisfies Received));

/** The bytes up to the end of the list. */
function receive(path: string, selector: string): Promise<number> {
  const url = `${clusters[0].cluster.server}${path}?${QUERY}${encodeURIComponent(selector)}`;
  const headers = {
    accept: 'application/vnd.kubernetes.protobuf',
    authorization: 'Bearer stand-in-token',
  };
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, headers }, (response) => {
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (!chunk.includes(LIST_END)) return;
        resolve(size);
        request.destroy();
      });
    });
    request.on('error', reject);
  });
}
