import { errorMessage } from '../../../application/error-message.js';
import { MigrationError } from '../../../domain/migration/migration-error.js';
import type { ProxyDaemonSet } from '../../../domain/migration/proxy-daemon-set.js';
import { anything, fields, optional } from '../../../domain/shapes/shape.js';
import type { ApiClient } from '../client/api-client.js';
import { ApiError } from '../client/api-error.js';
import { coreRequests, listDaemonSets } from '../client/cluster-requests.js';
import { listAll, send } from '../client/send.js';
import type { ProxyPodsOptions } from '../exec/proxy-pods.js';
import {
  configMapsOf,
  containerOf,
  daemonSetShape,
  flagsOf,
  mountedFiles,
  programOf,
  versionOf,
  type DaemonSet,
  type ReadSettings,
} from './daemon-set.js';

const configMapShape = fields({ data: optional(anything) });

/** A DaemonSet as it came, and what was read of it. */
export interface FoundDaemonSet {
  readonly proxy: ProxyDaemonSet;
  readonly object: DaemonSet;
}

/** The DaemonSets of a cluster that run a service proxy, with their configuration. */
export class DaemonSets {
  constructor(
    private readonly client: ApiClient,
    private readonly options: ProxyPodsOptions,
    private readonly readSettings: ReadSettings,
  ) {}

  /** @throws ApiError, ApiConnectionError, ApiProtocolError, KubeconfigError, MigrationError if a configuration cannot be read */
  async list(signal: AbortSignal): Promise<readonly FoundDaemonSet[]> {
    const { namespace, selector } = this.options;
    const objects = await listAll(this.client, listDaemonSets(namespace, selector), daemonSetShape, {
      signal,
    });
    const found: FoundDaemonSet[] = [];
    for (const object of objects) {
      const program = programOf(object);
      if (program) found.push({ object, proxy: await this.read(object, program, signal) });
    }
    return found;
  }

  private async read(
    object: DaemonSet,
    program: ProxyDaemonSet['program'],
    signal: AbortSignal,
  ): Promise<ProxyDaemonSet> {
    const container = containerOf(object)!;
    const { name, namespace } = object.metadata;
    const maps = new Map<string, Readonly<Record<string, string>>>();
    for (const each of configMapsOf(object, container))
      maps.set(each, await this.configMap(namespace, each, signal));
    const files = mountedFiles(object, container, (each) => Object.keys(maps.get(each) ?? {}));
    const readFile = (path: string): string => {
      const file = files.find((each) => each.path === path);
      const text = file && maps.get(file.configMap)?.[file.key];
      if (text === undefined) throw new Error(`${path} is in no ConfigMap`);
      return text;
    };
    try {
      const { mode, ipvs } = this.readSettings(flagsOf(container), readFile);
      const { nodeSelector = {} } = object.spec.template.spec as {
        nodeSelector?: ProxyDaemonSet['nodeSelector'];
      };
      const version = versionOf(container.image);
      return { namespace, name, program, version, mode: mode || 'iptables', nodeSelector, ipvs };
    } catch (error) {
      throw new MigrationError(
        `the configuration of the DaemonSet ${name} cannot be read: ${errorMessage(error)}`,
      );
    }
  }

  /** Empty, if there is none. */
  private async configMap(
    namespace: string,
    name: string,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, string>>> {
    const read = coreRequests.readNamespacedConfigMap(name, namespace);
    try {
      const { data = {} } = await send(this.client, read, configMapShape, { signal });
      return data as Readonly<Record<string, string>>;
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) return {};
      throw error;
    }
  }
}
