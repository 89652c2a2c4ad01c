import type { Cluster, User } from '@kubernetes/client-node/dist/config_types.js';
import type { Connection } from './connection.js';
import { environmentProxy } from './environment-proxy.js';
import { KubeconfigError } from './kubeconfig-error.js';

/** Where a URL is written, and what to do when it is wrong. */
interface Origin {
  readonly place: string;
  readonly advice: string;
}

/**
 * The URL of the API server: the master's, else the cluster's. Without a scheme it is HTTPS when anything of TLS is
 * configured, else HTTP, as kube-proxy has it. Throws KubeconfigError.
 */
export function serverUrl({ master, kubeconfig }: Connection, cluster: Cluster, user: User | null): string {
  const server = master || cluster.server;
  const usesTls =
    cluster.caFile || cluster.caData || cluster.skipTLSVerify || user?.certFile || user?.certData;
  const url = server.includes('://') ? server : `${usesTls ? 'https' : 'http'}://${server}`;
  const origin = master
    ? { place: '--master', advice: 'give one like https://192.0.2.1:6443' }
    : { place: kubeconfig ?? 'in-cluster', advice: 'correct clusters[].cluster.server' };
  check(`the server "${server}"`, url, ['http', 'https'], origin);
  return url.replace(/\/+$/, '');
}

/** The proxy that leads to the server: the cluster's, else the environment's. Throws KubeconfigError. */
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
  if (!URL.canParse(url)) throw new KubeconfigError(place, `${what} is no URL`, advice);
  const scheme = new URL(url).protocol.slice(0, -1);
  if (!schemes.includes(scheme))
    throw new KubeconfigError(
      place,
      `${what} has the scheme "${scheme}", not one of ${schemes.join(', ')}`,
      advice,
    );
}
