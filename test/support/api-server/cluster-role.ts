import { appendFileSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import type { ResourcePath } from './resource-path.js';

/** Says what clients may do. */
export interface Authorizer {
  /** @param token what the client showed; undefined: a certificate */
  allows(verb: string, path: ResourcePath, token: string | undefined): boolean;
}

export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Missing: all. */
  readonly resourceNames?: readonly string[];
}

/** Tests run in the project's folder, bundled drivers too. */
const file = resolve('deploy/base/cluster-role.yaml');

/** Read once. */
let granted: readonly PolicyRule[] | undefined;

function readRules(): readonly PolicyRule[] {
  return (parse(readFileSync(file, 'utf8')) as { rules: readonly PolicyRule[] }).rules;
}

/**
 * What the service account of the DaemonSet may do, as its manifest grants it. Each permission that is used is written
 * down in the folder that RECORDED_PERMISSIONS names, if it names one, so that one which nobody needs can be found.
 */
export class ClusterRole implements Authorizer {
  private readonly rules = (granted ??= readRules());
  private readonly recorded = new Set<string>();

  allows(verb: string, path: ResourcePath): boolean {
    const allowed = isAllowed(this.rules, verb, path);
    if (allowed) this.record(`${verb} ${subjectOf(path).join('/')}`);
    return allowed;
  }

  private record(permission: string): void {
    const folder = process.env.RECORDED_PERMISSIONS;
    if (!folder || this.recorded.has(permission)) return;
    this.recorded.add(permission);
    appendFileSync(join(folder, `${process.pid}.txt`), `${permission}\n`);
  }
}

/** Whether one of the rules allows it. */
export function isAllowed(rules: readonly PolicyRule[], verb: string, path: ResourcePath): boolean {
  const [group, resource] = subjectOf(path);
  return rules.some(
    ({ apiGroups, resources, verbs, resourceNames }) =>
      apiGroups.includes(group) &&
      resources.includes(resource) &&
      verbs.includes(verb) &&
      (resourceNames?.includes(path.name ?? '') ?? true),
  );
}

/** The API group and the resource. */
function subjectOf({ collection }: ResourcePath): [group: string, resource: string] {
  const [, kind, group = '', , named] = collection.split('/');
  return kind === 'api' ? ['', collection.split('/').at(-1)!] : [group, named!];
}
