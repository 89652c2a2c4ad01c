import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { StandInApiServer } from '../api-server/api-server.js';
import type { OtherAnswer, OtherRequest } from '../api-server/admission.js';
import { writeKubeconfig } from '../api-server/kubeconfig.js';
import type { ApiObject } from '../api-server/object-store.js';
import { collectionOf } from '../api-server/resource-path.js';
import { API_RESOURCES, discovery } from './api-resources.js';
import { asStored, clusterAdmission } from './cluster-admission.js';
import { DaemonSets } from './daemon-sets.js';
import { Kubelet, type ClusterNode } from './kubelet.js';
import { asTable } from './tables.js';
import { isToken, ServiceAccountRoles } from './service-account-roles.js';

/** Where the API server answers on every node, before any service address works. */
export const CONTROL_PLANE = { address: '10.0.0.10', port: 6443 } as const;

/** It has names, too, that all nodes know. */
const HOSTS = `127.0.0.1 localhost\n${CONTROL_PLANE.address} kind-control-plane control-plane.example\n`;

const LOG = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/log$/;
const DISCOVERY = discovery(API_RESOURCES);

/**
 * A cluster against which the real kubectl and helm work: a stand-in API server with discovery, admission and RBAC, the
 * controller of DaemonSets, and a kubelet for each node, which runs the built proxy in that node's network.
 */
export class StandInCluster {
  private constructor(
    readonly api: StandInApiServer,
    /** An administrator's. */
    readonly kubeconfig: string,
    readonly kubelets: readonly Kubelet[],
    private readonly daemonSets: DaemonSets,
    private readonly folder: string,
    private readonly socket: string,
  ) {}

  static async start(nodes: readonly ClusterNode[]): Promise<StandInCluster> {
    const api = await StandInApiServer.start();
    const folder = await mkdtemp(join(tmpdir(), 'stand-in-cluster-'));
    api.clusterRole = new ServiceAccountRoles(api.store);
    api.tokens = { has: isToken };
    api.admission = clusterAdmission;
    api.asTable = asTable;
    const socket = join(folder, 'api-server');
    await api.openSocket(socket);
    const kubelets = nodes.map((node) => new Kubelet(api, node, folder, HOSTS));
    const kubeconfig = await writeKubeconfig(api, 'client-certificate');
    const cluster = new StandInCluster(api, kubeconfig, kubelets, new DaemonSets(api.store), folder, socket);
    await cluster.answerAt(CONTROL_PLANE);
    api.answerOther = (request) => cluster.answer(request);
    api.containers.run = async (command) => {
      for (const kubelet of kubelets) {
        const executed = await kubelet.execute(command);
        if (executed) return executed;
      }
      return { refusal: 404, reason: 'NotFound', message: `pods "${command.pod}" not found` };
    };
    return cluster;
  }

  /** Lets the API server answer under an address of its own on every node. */
  async answerAt({ address, port }: { readonly address: string; readonly port: number }): Promise<void> {
    const { socket } = this;
    for (const { node } of this.kubelets) {
      await node.host.run(['ip', 'address', 'replace', `${address}/32`, 'dev', 'lo']);
      await node.host.ask('relay', { address, port, socket });
    }
  }

  /** Puts objects as the server would store them. */
  put(objects: readonly ApiObject[]): void {
    for (const object of objects) {
      const { apiVersion, kind, metadata } = object;
      const before = this.api.store.get(collectionOf(apiVersion, kind), metadata.namespace, metadata.name);
      this.api.store.put(asStored(object, before));
    }
  }

  /** Removes everything; what runs ends. */
  clear(): void {
    for (const { apiVersion, kind } of API_RESOURCES.filter((resource) => resource.kind !== 'Pod'))
      for (const { metadata } of this.objects(apiVersion, kind))
        this.api.store.remove(collectionOf(apiVersion, kind), metadata.namespace, metadata.name);
  }

  objects<T = ApiObject>(apiVersion: string, kind: string): T[] {
    return this.api.objects(apiVersion, kind) as never;
  }

  /**
   * All that people and tools have written, by kind and name: without what the server, controllers and kubelets say, and
   * without the note that `kubectl apply` leaves for itself.
   */
  written(): Record<string, object> {
    const own = API_RESOURCES.filter(({ kind }) => !['Pod', 'ControllerRevision'].includes(kind));
    const entries = own.flatMap(({ apiVersion, kind }) =>
      this.objects(apiVersion, kind).map(({ metadata, status: _, ...object }): [string, object] => {
        const { name, namespace = '', labels = {}, annotations = {} } = metadata;
        return [`${kind} ${namespace}/${name}`, { ...object, labels, annotations }];
      }),
    );
    return Object.fromEntries(entries);
  }

  async close(): Promise<void> {
    this.daemonSets.stop();
    await Promise.all(this.kubelets.map((kubelet) => kubelet.stop()));
    await this.api.close();
    await rm(this.folder, { recursive: true, force: true });
    await rm(dirname(this.kubeconfig), { recursive: true, force: true });
  }

  private answer({ method, path }: OtherRequest): OtherAnswer | undefined {
    const found = method === 'GET' ? DISCOVERY.get(path) : undefined;
    if (found) return { code: 200, body: found };
    const [, namespace, name] = LOG.exec(path) ?? [];
    if (name === undefined) return undefined;
    const pod = this.api.store.get(collectionOf('v1', 'Pod'), namespace, name);
    const log = pod && this.kubelets.map((kubelet) => kubelet.log(pod.metadata.uid as string)).find(Boolean);
    return { code: 200, body: log ?? '' };
  }
}
