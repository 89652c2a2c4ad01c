import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { Cluster, Context, User } from '@kubernetes/client-node/dist/config_types.js';
import type { ExecPlugins } from './exec-plugins.js';

export type { Cluster, Context, User };

type ExecPlugin = { command?: string; env?: { name: string; value: string }[]; apiVersion?: string } | null;

/**
 * The class KubeConfig of @kubernetes/client-node, which turns a kubeconfig into options of HTTPS requests: certificates,
 * tokens, exec plugins, proxies. No other file uses that package. What it lacks is added here.
 */
export class ClientNode {
  /**
   * Loads the package on first use, and only its configuration part: the whole package costs half a second and 75 MB. Its
   * version is pinned, because that path is not a documented entry.
   */
  static async load(plugins: Pick<ExecPlugins, 'spawn'>): Promise<ClientNode> {
    const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
    const config = new KubeConfig();
    // Left alone it would wait for a plugin forever. Its types do not show how it starts one.
    const { authenticators } = config as unknown as { authenticators: { execFn?: ExecPlugins['spawn'] }[] };
    for (const authenticator of authenticators)
      if (authenticator.execFn) authenticator.execFn = plugins.spawn;
    return new ClientNode(config);
  }

  private constructor(private readonly config: KubeConfig) {}

  /** Takes over a kubeconfig; its relative paths start at the directory. Throws when the text is not one. */
  loadKubeconfig(text: string, directory: string): void {
    this.config.loadFromString(text);
    this.config.makePathsAbsolute(directory);
  }

  /** Takes over the pod's service account, mounted below `root`. Returns the path of its token. */
  loadServiceAccount(root: string): string {
    this.config.loadFromCluster(root);
    return this.user?.authProvider?.config?.tokenFile as string;
  }

  /** Prepares for a server without any credentials; `useServer` names it. */
  loadAnonymous(): void {
    this.config.loadFromClusterAndUser(
      { name: 'master', server: '', skipTLSVerify: false },
      { name: 'anonymous' },
    );
  }

  get contextNames(): readonly string[] {
    return this.config.getContexts().map(({ name }) => name);
  }

  /** Empty when it is not set. */
  get currentContext(): string {
    return this.config.getCurrentContext() ?? '';
  }

  useContext(name: string): void {
    this.config.setCurrentContext(name);
  }

  /** The current context. */
  get context(): Context | undefined {
    return this.config.getContextObject(this.currentContext) ?? undefined;
  }

  /** The cluster of the current context. */
  get cluster(): Cluster | undefined {
    return this.config.getCurrentCluster() ?? undefined;
  }

  /** The user of the current context. */
  get user(): User | undefined {
    return this.config.getCurrentUser() ?? undefined;
  }

  /** Gives a context without a user one: otherwise KubeConfig ignores the cluster's certificate authority as well. */
  useAnonymous(context: Context): void {
    this.config.addUser({ name: 'anonymous' });
    Object.assign(context, { user: 'anonymous' });
  }

  /** Replaces the URL of the current cluster, and its proxy if one is given. */
  useServer(server: string, proxyUrl: string | undefined): void {
    Object.assign(this.cluster ?? {}, {
      server,
      ...(proxyUrl && { proxyUrl }),
      // KubeConfig refuses plain HTTP unless verification, which plain HTTP does not have, is off.
      ...(server.startsWith('http:') && { skipTLSVerify: true }),
    });
  }

  useToken(token: string): void {
    Object.assign(this.user ?? {}, { token });
  }

  /** Sets what exec plugins rely on and KubeConfig omits: the absolute path of the command, and KUBERNETES_EXEC_INFO. */
  prepareExecPlugin(resolvePath: (path: string) => string): void {
    const exec = this.user?.exec as ExecPlugin | undefined;
    if (!exec?.command) return;
    if (exec.command.includes('/')) exec.command = resolvePath(exec.command);
    const info = { kind: 'ExecCredential', apiVersion: exec.apiVersion, spec: { interactive: false } };
    exec.env = [...(exec.env ?? []), { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }];
  }

  /** Reads certificates, runs an exec plugin if there is one, and adds to the options what requests need. */
  async applyTo(options: RequestOptions): Promise<void> {
    await this.config.applyToHTTPSOptions(options);
  }
}
