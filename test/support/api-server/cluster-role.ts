import { appendFileSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import type { ResourcePath } from './resource-path.js';

interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** Tests run in the project's folder, bundled drivers too. */
const file = resolve('deploy/base/cluster-role.yaml');

/**
 * What the service account of the DaemonSet may do, as its manifest grants it. Each permission that is used is written
 * down in the folder that RECORDED_PERMISSIONS names, if it names one, so that one which nobody needs can be found.
 */
export class ClusterRole {
  private readonly rules: readonly PolicyRule[];
  private readonly recorded = new Set<string>();

  constructor() {
    this.rules = (parse(readFileSync(file, 'utf8')) as { rules: readonly PolicyRule[] }).rules;
  }

  allows(verb: string, { collection }: ResourcePath): boolean {
    const [, kind, group = '', , named] = collection.split('/');
    const [apiGroup, resource] = kind === 'api' ? ['', collection.split('/').at(-1)!] : [group, named!];
    const allowed = this.rules.some(
      ({ apiGroups, resources, verbs }) =>
        apiGroups.includes(apiGroup) && resources.includes(resource) && verbs.includes(verb),
    );
    if (allowed) this.record(`${verb} ${apiGroup}/${resource}`);
    return allowed;
  }

  private record(permission: string): void {
    const folder = process.env.RECORDED_PERMISSIONS;
    if (!folder || this.recorded.has(permission)) return;
    this.recorded.add(permission);
    appendFileSync(join(folder, `${process.pid}.txt`), `${permission}\n`);
  }
}
