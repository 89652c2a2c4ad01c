/** KubeConfig of @kubernetes/client-node, with what it lacks: limits for exec plugins, and rules of client-go. */

import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { Cluster, User } from '@kubernetes/client-node/dist/config_types.js';
import type { Clock } from '../../../application/ports/clock.js';

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

export type { Cluster, KubeConfig, User };

/** Replaces the URL of a cluster, and its proxy if one is given. */
export function useServer(cluster: Cluster, server: string, proxyUrl: string | undefined): void {
  Object.assign(cluster, {
    server,
    ...(proxyUrl && { proxyUrl }),
    // KubeConfig rejects plain HTTP unless verification, which plain HTTP does not have, is off.
    ...(server.startsWith('http:') && { skipTLSVerify: true }),
  });
}

/** Without this, KubeConfig keeps the agent of a cluster with its old certificates. */
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

/**
 * Runs the exec plugins of a kubeconfig for the client library. A plugin that exceeds its time limit, or still runs at
 * `close`, is killed with all processes it has started; the library gets the reason as an error.
 */
export class ExecPlugins {
  private readonly running = new Map<ChildProcess, string>();

  constructor(
    private readonly clock: Clock,
    /** Milliseconds that a plugin may take. */
    private readonly limit: number,
  ) {}

  /** Like `spawn` of node:child_process, with an empty standard input: a prompt would never be answered. */
  readonly spawn = (
    command: string,
    args: readonly string[] = [],
    options: SpawnOptions = {},
  ): ChildProcess => {
    // A process group of its own can be killed as a whole.
    const plugin = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const late = this.clock.after(this.limit, () =>
      this.kill(plugin, `the exec plugin ${command} did not answer within ${this.limit} ms and was killed`),
    );
    this.running.set(plugin, command);
    plugin.on('close', () => {
      late.cancel();
      this.running.delete(plugin);
    });
    return plugin;
  };

  /** Kills all running plugins. Usable again afterwards. */
  close(): void {
    for (const [plugin, command] of this.running)
      this.kill(plugin, `the exec plugin ${command} was killed: the connection is closed`);
  }

  private kill(plugin: ChildProcess, reason: string): void {
    plugin.emit('error', new Error(reason));
    try {
      if (plugin.pid !== undefined) process.kill(-plugin.pid, 'SIGKILL');
    } catch {
      // It has already exited.
    }
    // A process that left the group may hold these open; then `close` would never be emitted.
    plugin.stdout?.destroy();
    plugin.stderr?.destroy();
  }
}
