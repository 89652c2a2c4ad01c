import type { V1ConfigMap, V1Pod } from '@kubernetes/client-node';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { StandInApiServer } from '../api-server/api-server.js';
import { collectionOf } from '../api-server/resource-path.js';
import { tokenOf } from './service-account-roles.js';

/** The volume of every pod that has a service account, by the API server's own doing. */
export const ACCOUNT_MOUNT = {
  name: 'service-account',
  mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
  readOnly: true,
};

/** The files of a pod's volumes, in a folder of the test's: config maps, the service account's token, the lock of iptables. */
export class PodVolumes {
  /** Folders and files by the names of the volumes. The machine's kernel modules are not among them. */
  readonly places: Record<string, string> = {};

  constructor(
    private readonly api: StandInApiServer,
    private readonly pod: V1Pod,
    private readonly folder: string,
  ) {}

  /** Writes all of them; fails where a config map does not exist. */
  async prepare(lock: string): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    for (const { name, configMap, hostPath } of this.pod.spec!.volumes ?? []) {
      if (hostPath?.path.endsWith('/xtables.lock')) this.places[name] = lock;
      if (!configMap) continue;
      this.places[name] = join(this.folder, name);
      await mkdir(this.places[name]);
    }
    await this.writeAccount();
    await this.update();
  }

  /** Config maps as they are now. One that is gone stays as it was. */
  async update(): Promise<void> {
    for (const { name, configMap } of this.pod.spec!.volumes ?? []) {
      if (!configMap) continue;
      const { namespace } = this.pod.metadata!;
      const found = this.api.store.get(collectionOf('v1', 'ConfigMap'), namespace, configMap.name!);
      const { data = {} } = (found ?? {}) as unknown as V1ConfigMap;
      for (const [file, text] of Object.entries(data)) {
        const path = join(this.places[name]!, file);
        await writeFile(`${path}.new`, file === 'config.conf' ? harmless(text) : text);
        await rename(`${path}.new`, path);
      }
    }
  }

  private async writeAccount(): Promise<void> {
    const place = join(this.folder, 'service-account-files');
    const { namespace } = this.pod.metadata!;
    const { serviceAccountName } = this.pod.spec!;
    await mkdir(place);
    await writeFile(join(place, 'ca.crt'), this.api.certificates.authority);
    if (serviceAccountName) await writeFile(join(place, 'token'), tokenOf(namespace!, serviceAccountName));
    this.places[ACCOUNT_MOUNT.name] = place;
  }
}

/** The size of the connection table is the machine's, not the network namespace's: it stays as it is. */
function harmless(text: string): string {
  const configuration = parse(text) as Record<string, unknown>;
  return stringify({ ...configuration, conntrack: { maxPerCore: 0, min: 0 } });
}
