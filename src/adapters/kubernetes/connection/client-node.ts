import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { Cluster, User } from '@kubernetes/client-node/dist/config_types.js';
import type { ExecPlugins } from './exec-plugins.js';

export type { Cluster, KubeConfig, User };

type ExecPlugin = { command?: string; env?: { name: string; value: string }[]; apiVersion?: string } | null;

/**
 * An empty KubeConfig of @kubernetes/client-node, which turns a kubeconfig into options of HTTPS requests: certificates,
 * tokens, exec plugins, proxies. No other file imports that package. What it lacks is added here.
 *
 * It is loaded on first use, and only its configuration part: the whole package costs half a second and 75 MB, and does not load on
 * Node 20. Program and library have that part inside. The version is pinned, because that path is not a documented entry.
 */
export async function emptyKubeConfig(plugins: Pick<ExecPlugins, 'spawn'>): Promise<KubeConfig> {
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
  const config = new KubeConfig();
  // Left alone it would wait for a plugin forever. Its types do not show how it starts one.
  const { authenticators } = config as unknown as { authenticators: { execFn?: ExecPlugins['spawn'] }[] };
  for (const authenticator of authenticators) if (authenticator.execFn) authenticator.execFn = plugins.spawn;
  return config;
}

/** Replaces the URL of a cluster, and its proxy if one is given. */
export function useServer(cluster: Cluster, server: string, proxyUrl: string | undefined): void {
  Object.assign(cluster, {
    server,
    ...(proxyUrl && { proxyUrl }),
    // KubeConfig refuses plain HTTP unless verification, which plain HTTP does not have, is off.
    ...(server.startsWith('http:') && { skipTLSVerify: true }),
  });
}

/** Otherwise it would keep the agent of a cluster, with the certificates of that time. */
export function forgetAgents(config: KubeConfig): void {
  (config as unknown as { agentCache: Map<string, unknown> }).agentCache.clear();
}

/** As in client-go, what the kubeconfig contains counts, and not the file that it names for the same. */
export function preferData(cluster: Cluster | null, user: User | null): void {
  if (cluster?.caData) Object.assign(cluster, { caFile: undefined });
  if (user?.certData) Object.assign(user, { certFile: undefined });
  if (user?.keyData) Object.assign(user, { keyFile: undefined });
}

/** Sets what exec plugins rely on and KubeConfig omits: the absolute path of the command, and KUBERNETES_EXEC_INFO. */
export function prepareExecPlugin(user: User, resolvePath: (path: string) => string): void {
  const exec = user.exec as ExecPlugin | undefined;
  if (!exec?.command) return;
  if (exec.command.includes('/')) exec.command = resolvePath(exec.command);
  const info = { kind: 'ExecCredential', apiVersion: exec.apiVersion, spec: { interactive: false } };
  exec.env = [...(exec.env ?? []), { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }];
}
