/** What the proxies of all nodes can be asked. */
export type ClusterQuestion =
  | { readonly kind: 'status' }
  /** The Service, as `namespace/name`. */
  | { readonly kind: 'explain'; readonly service: string }
  | { readonly kind: 'top' };

/** How the proxies of a cluster are found and asked. */
export interface ClusterAccess {
  /** The namespace of their pods. */
  readonly namespace: string;
  /** The labels of their pods, as a selector. */
  readonly selector: string;
  /** How many are asked at a time. */
  readonly parallel: number;
  /** Of the kubeconfig; undefined: the current one. */
  readonly context?: string;
}
