import { isAllowed, type Authorizer, type PolicyRule } from '../api-server/cluster-role.js';
import type { ObjectStore } from '../api-server/object-store.js';
import { collectionOf, type ResourcePath } from '../api-server/resource-path.js';

const RBAC = 'rbac.authorization.k8s.io/v1';

interface Binding {
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

/** What service accounts may do by the ClusterRoles and the bindings that the cluster has. Whoever shows a certificate may do all. */
export class ServiceAccountRoles implements Authorizer {
  constructor(private readonly store: ObjectStore) {}

  allows(verb: string, path: ResourcePath, token: string | undefined): boolean {
    if (token === undefined) return true;
    const [, namespace, account] = token.split('/');
    // An account that is gone has no token any more.
    if (!this.store.get(collectionOf('v1', 'ServiceAccount'), namespace, account!)) return false;
    const bindings = this.store.list(
      collectionOf(RBAC, 'ClusterRoleBinding'),
    ) as unknown as readonly Binding[];
    return bindings
      .filter(({ subjects = [] }) =>
        subjects.some((subject) => subject.name === account && subject.namespace === namespace),
      )
      .map(({ roleRef }) => this.store.get(collectionOf(RBAC, 'ClusterRole'), undefined, roleRef.name))
      .some((role) => isAllowed((role?.rules ?? []) as readonly PolicyRule[], verb, path));
  }
}
