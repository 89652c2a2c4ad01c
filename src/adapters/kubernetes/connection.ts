/** How to reach the API server. Neither kubeconfig nor master: in-cluster, with the service account of the pod. */
export interface Connection {
  /** Path of a kubeconfig file. */
  readonly kubeconfig?: string;
  /** URL of the API server; overrides the kubeconfig's. */
  readonly master?: string;
  /** Where the service account is mounted; only tests have another place. */
  readonly serviceAccountRoot?: string;
}
