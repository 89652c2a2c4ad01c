import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { Cluster, User } from '@kubernetes/client-node/dist/config_types.js';
import { parse } from 'yaml';
import { errorMessage } from '../../application/error-message.js';
import type { Connection } from './connection.js';
import type { ExecPlugins } from './exec-plugins.js';
import { KubeconfigError } from './kubeconfig-error.js';
import { proxyUrlOf, serverUrl } from './server-url.js';

/** A loaded configuration, with what the client library's `KubeConfig` leaves out. */
export interface LoadedKubeconfig {
  readonly config: KubeConfig;
  /** Bearer token file of the current user, to be read again when credentials are renewed. */
  readonly tokenFile?: string;
}

type ExecPlugin = { command?: string; env?: { name: string; value: string }[]; apiVersion?: string } | null;

/**
 * Loads the configuration of a connection. Throws KubeconfigError.
 *
 * The client library is loaded here, on first use, and only its configuration part: the whole package costs half a
 * second and 75 MB. The version is pinned, because that path is not a documented entry.
 */
export async function loadKubeconfig(
  connection: Connection,
  plugins: ExecPlugins,
): Promise<LoadedKubeconfig> {
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
  const config = new KubeConfig();
  startPluginsBy(config, plugins);
  let tokenFile: string | undefined;
  if (connection.kubeconfig) {
    tokenFile = await loadFile(config, connection.kubeconfig);
  } else if (connection.master) {
    config.loadFromClusterAndUser(
      { name: 'master', server: '', skipTLSVerify: false },
      { name: 'anonymous' },
    );
  } else {
    tokenFile = loadInCluster(config, connection.serviceAccountRoot ?? '');
  }
  const cluster = config.getCurrentCluster();
  if (cluster) {
    const server = serverUrl(connection, cluster, config.getCurrentUser());
    const proxyUrl = proxyUrlOf(connection, cluster, server);
    // KubeConfig refuses plain HTTP unless verification, which plain HTTP does not have, is switched off.
    if (server.startsWith('http:')) Object.assign(cluster, { skipTLSVerify: true });
    Object.assign(cluster, { server, ...(proxyUrl && { proxyUrl }) });
  }
  return tokenFile ? { config, tokenFile } : { config };
}

async function loadFile(config: KubeConfig, file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new KubeconfigError(
      file,
      `the kubeconfig cannot be read (${error.code ?? error.message})`,
      'check --kubeconfig or clientConnection.kubeconfig, and that the file is mounted and readable',
      { cause: error },
    );
  });
  const directory = dirname(file);
  try {
    config.loadFromString(text);
    config.makePathsAbsolute(directory);
  } catch (error) {
    throw new KubeconfigError(
      file,
      `not a valid kubeconfig (${errorMessage(error)})`,
      'it must be YAML or JSON of kind Config with clusters, users and contexts',
      { cause: error },
    );
  }
  requireCurrent(config, file);
  requireOneWayToVerify(config.getCurrentCluster(), file);
  const user = config.getCurrentUser();
  if (!user) return undefined;
  refuseAuthProvider(user, file);
  prepareExecPlugin(user.exec as ExecPlugin, directory);
  const tokenFile = tokenFileOf(text, user);
  return tokenFile && resolveFrom(directory, tokenFile);
}

function requireCurrent(config: KubeConfig, file: string): void {
  const context = config.getContextObject(config.getCurrentContext());
  if (!context) {
    throw new KubeconfigError(
      file,
      `current-context is ${config.getCurrentContext() ? `"${config.getCurrentContext()}", which contexts does not have` : 'not set'}`,
      `set it to one of: ${
        config
          .getContexts()
          .map(({ name }) => name)
          .join(', ') || '(no contexts in the file)'
      }`,
    );
  }
  if (!config.getCluster(context.cluster)) {
    throw new KubeconfigError(
      file,
      `context "${context.name}" names the cluster "${context.cluster}", which clusters does not have`,
      'add the cluster or correct the context',
    );
  }
  if (!context.user) {
    // Without any user KubeConfig would leave out the cluster's certificate authority too.
    config.addUser({ name: 'anonymous' });
    Object.assign(context, { user: 'anonymous' });
  } else if (!config.getUser(context.user)) {
    throw new KubeconfigError(
      file,
      `context "${context.name}" names the user "${context.user}", which users does not have`,
      'add the user or correct the context',
    );
  }
}

/** `tokenFile` of the user: kubeadm's kube-proxy kubeconfig has it, and the client library does not know that key. */
function tokenFileOf(text: string, user: User): string | undefined {
  const document = parse(text) as { users?: { name?: string; user?: { tokenFile?: unknown } | null }[] };
  const tokenFile = document.users?.find(({ name }) => name === user.name)?.user?.tokenFile;
  return typeof tokenFile === 'string' && tokenFile ? tokenFile : undefined;
}

/** The client library would wait for a plugin for ever. How it starts one is not among what its types show. */
function startPluginsBy(config: KubeConfig, plugins: ExecPlugins): void {
  const { authenticators } = config as unknown as { authenticators: { execFn?: ExecPlugins['spawn'] }[] };
  for (const authenticator of authenticators) if (authenticator.execFn) authenticator.execFn = plugins.spawn;
}

/** What plugins may rely on and the client library leaves out: a relative command's place, and KUBERNETES_EXEC_INFO. */
function prepareExecPlugin(exec: ExecPlugin, directory: string): void {
  if (!exec?.command) return;
  if (exec.command.includes('/')) exec.command = resolveFrom(directory, exec.command);
  const info = { kind: 'ExecCredential', apiVersion: exec.apiVersion, spec: { interactive: false } };
  exec.env = [...(exec.env ?? []), { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }];
}

function loadInCluster(config: KubeConfig, root: string): string {
  config.loadFromCluster(root);
  const tokenFile = config.getCurrentUser()?.authProvider?.config?.tokenFile as string;
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  if (!host || !port || !existsSync(tokenFile)) {
    throw new KubeconfigError(
      'in-cluster',
      !host || !port
        ? 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, so this is no pod of a cluster'
        : `the service account token ${tokenFile} does not exist`,
      'give --kubeconfig or --master, or --manifests to do without an API server',
    );
  }
  return tokenFile;
}

/** As client-go has it: what is verified and what is not must not be left to guessing. */
function requireOneWayToVerify(cluster: Cluster | null, file: string): void {
  if (!cluster?.skipTLSVerify || !(cluster.caFile || cluster.caData)) return;
  throw new KubeconfigError(
    file,
    `cluster "${cluster.name}": specifying a root certificates file with the insecure flag is not allowed`,
    'remove insecure-skip-tls-verify or certificate-authority and certificate-authority-data',
  );
}

/** kube-proxy is built without any provider. */
function refuseAuthProvider({ name, authProvider }: User, file: string): void {
  if (!authProvider) return;
  throw new KubeconfigError(
    file,
    `user "${name}" has an auth-provider, and there is no Auth Provider for name "${authProvider.name}"`,
    'use token, tokenFile, a client certificate or an exec plugin',
  );
}

function resolveFrom(directory: string, path: string): string {
  return isAbsolute(path) ? path : join(directory, path);
}
