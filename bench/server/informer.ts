import { setTimeout as sleep } from 'node:timers/promises';
import type { Informer, KubernetesObject } from '@kubernetes/client-node';
import { ApiClient } from '../../src/adapters/kubernetes/client/api-client.js';
import { KubernetesSource } from '../../src/adapters/kubernetes/kubernetes-source.js';
import { SystemClock } from '../../src/adapters/process/system-clock.js';
import type { Logger } from '../../src/application/ports/logger.js';
import { NODE_NAME } from '../cluster.js';

/* Lists and watches Services and EndpointSlices as the proxy does or with client-node's informer, and keeps the objects:
 * `node informer.js proxy|client-node KUBECONFIG` prints InformerFigures as one line of JSON.
 */

/** Milliseconds and bytes, from the start of the process. */
export interface InformerFigures {
  /** Until the lists are complete. */
  readonly synced: number;
  /** Of all threads, until some seconds later. */
  readonly processor: number;
  /** Resident, at most. */
  readonly peak: number;
}

type Kind = 'Service' | 'EndpointSlice';

/** The objects by kind and name. */
const objects = new Map<string, unknown>();
const logger: Logger = { debug() {}, info() {}, warn() {}, error: console.error, child: () => logger };
const SETTLE_MS = 5_000;

const followers: Readonly<Record<string, (kubeconfig: string) => Promise<unknown>>> = {
  proxy: followAsProxy,
  'client-node': followWithInformer,
};

const [by = '', kubeconfig = ''] = process.argv.slice(2);
await followers[by]!(kubeconfig);
const synced = performance.now();
await sleep(SETTLE_MS);
const { user, system } = process.cpuUsage();
const figures: InformerFigures = {
  synced,
  processor: (user + system) / 1000,
  peak: process.resourceUsage().maxRSS * 1024,
};
console.log(JSON.stringify({ ...figures, objects: objects.size }));
process.exit(0);

/** Resolves when both lists are complete. */
async function followAsProxy(file: string): Promise<void> {
  const clock = new SystemClock();
  const client = new ApiClient({ kubeconfig: file }, clock);
  const source = new KubernetesSource(() => Promise.resolve(client), { nodeName: NODE_NAME }, clock, logger);
  const missing = new Set<string>(['Service', 'EndpointSlice'] satisfies Kind[]);
  await new Promise<void>((resolve, reject) => {
    const sink = {
      applied: (kind: string, object: unknown) => void objects.set(keyOf(kind, object), object),
      deleted: (kind: string, { namespace = '', name }: { namespace?: string; name: string }) =>
        void objects.delete(`${kind} ${namespace}/${name}`),
      synced: (kind: string) => {
        missing.delete(kind);
        if (missing.size === 0) resolve();
      },
    };
    source.start(sink, new AbortController().signal).catch(reject);
  });
}

/** The same. */
async function followWithInformer(file: string): Promise<void> {
  const { CoreV1Api, DiscoveryV1Api, KubeConfig, makeInformer } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromFile(file);
  const core = config.makeApiClient(CoreV1Api);
  const discovery = config.makeApiClient(DiscoveryV1Api);
  const labelSelector = '!service.kubernetes.io/headless,!service.kubernetes.io/service-proxy-name';
  await Promise.all([
    follow(
      'Service',
      makeInformer(
        config,
        '/api/v1/services',
        () => core.listServiceForAllNamespaces({ labelSelector }),
        labelSelector,
      ),
    ),
    follow(
      'EndpointSlice',
      makeInformer(
        config,
        '/apis/discovery.k8s.io/v1/endpointslices',
        () => discovery.listEndpointSliceForAllNamespaces({ labelSelector }),
        labelSelector,
      ),
    ),
  ]);
}

async function follow<Item extends KubernetesObject>(kind: Kind, informer: Informer<Item>): Promise<void> {
  informer.on('add', (object) => void objects.set(keyOf(kind, object), object));
  informer.on('error', (error) => {
    throw error as Error;
  });
  await informer.start();
}

function keyOf(kind: string, object: unknown): string {
  const { namespace = '', name = '' } = (object as { metadata: { namespace?: string; name?: string } })
    .metadata;
  return `${kind} ${namespace}/${name}`;
}
