import type { Cluster, User } from './client-node.js';
import { KubeconfigError, type Connection } from './connection.js';
import { environmentProxy } from './environment-proxy.js';

/** Where a URL comes from, and what to do when it is wrong. */
interface Origin {
  readonly place: string;
  readonly advice: string;
}

/**
 * The URL of the API server: the master's, else the cluster's. Without a scheme it is HTTPS if anything about TLS is
 * configured, else HTTP, as in kube-proxy. Throws KubeconfigError.
 */
export function serverUrl({ master, kubeconfig }: Connection, cluster: Cluster, user: User | null): string {
  const server = master || cluster.server;
  const usesTls =
    cluster.caFile || cluster.caData || cluster.skipTLSVerify || user?.certFile || user?.certData;
  const url = server.includes('://') ? server : `${usesTls ? 'https' : 'http'}://${server}`;
  const origin = master
    ? { place: '--master', advice: 'use a URL like https://192.0.2.1:6443' }
    : { place: kubeconfig ?? 'in-cluster', advice: 'correct clusters[].cluster.server' };
  check(`the server "${server}"`, url, ['http', 'https'], origin);
  return url.replace(/\/+$/, '');
}

/** The proxy to use for the server: the cluster's, else the environment's. Throws KubeconfigError. */
export function proxyUrlOf({ kubeconfig }: Connection, cluster: Cluster, server: string): string | undefined {
  const proxy = cluster.proxyUrl || environmentProxy(new URL(server));
  if (!proxy) return undefined;
  const origin =
    cluster.proxyUrl && kubeconfig
      ? { place: kubeconfig, advice: 'correct clusters[].cluster.proxy-url' }
      : { place: 'environment', advice: 'correct HTTPS_PROXY or HTTP_PROXY' };
  check(`the proxy "${proxy}"`, proxy, ['http', 'https', 'socks5', 'socks5h'], origin);
  return proxy;
}

function check(what: string, url: string, schemes: readonly string[], { place, advice }: Origin): void {
  if (!URL.canParse(url)) throw new KubeconfigError(place, `${what} is not a URL`, advice);
  const scheme = new URL(url).protocol.slice(0, -1);
  if (!schemes.includes(scheme))
    throw new KubeconfigError(
      place,
      `${what} has the scheme "${scheme}"; it must be one of ${schemes.join(', ')}`,
      advice,
    );
}
