import { isAllowed, type Authorizer, type PolicyRule } from '../api-server/cluster-role.js';
import type { ObjectStore } from '../api-server/object-store.js';
import { collectionOf, type ResourcePath } from '../api-server/resource-path.js';

const RBAC = 'rbac.authorization.k8s.io/v1';

interface Binding {
  readonly metadata: { readonly namespace?: string };
  readonly roleRef: { readonly name: string };
  readonly subjects?: readonly {
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
  }[];
}

/** The token of a service account; it says whose it is. */
export const tokenOf = (namespace: string, account: string): string => `token-of/${namespace}/${account}`;

export const isToken = (text: string): boolean => text.startsWith('token-of/');

/** What service accounts may do by the roles and the bindings that the cluster has. Whoever shows a certificate may do all. */
export class ServiceAccountRoles implements Authorizer {
  constructor(private readonly store: ObjectStore) {}

  allows(verb: string, path: ResourcePath, token: string | undefined): boolean {
    if (token === undefined) return true;
    const [, namespace, account] = token.split('/');
    // An account that is gone has no token any more.
    if (!this.store.get(collectionOf('v1', 'ServiceAccount'), namespace, account!)) return false;
    const rolesOf = (kind: 'Role' | 'ClusterRole', place?: string) =>
      (this.store.list(collectionOf(RBAC, `${kind}Binding`)) as unknown as readonly Binding[])
        .filter(
          ({ metadata, subjects = [] }) =>
            metadata.namespace === place &&
            subjects.some((subject) => subject.name === account && subject.namespace === namespace),
        )
        .map(({ roleRef }) => this.store.get(collectionOf(RBAC, kind), place, roleRef.name));
    const roles = [
      ...rolesOf('ClusterRole'),
      ...(path.namespace === undefined ? [] : rolesOf('Role', path.namespace)),
    ];
    return roles.some((role) => isAllowed((role?.rules ?? []) as readonly PolicyRule[], verb, path));
  }
}
