import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { load } from 'js-yaml';
import { errorMessage } from '../../../application/error-message.js';
import {
  emptyKubeConfig,
  preferData,
  prepareExecPlugin,
  useServer,
  type Cluster,
  type KubeConfig,
  type User,
  type ExecPlugins,
} from './client-node.js';
import { KubeconfigError, type Connection, type ConnectionOverrides } from './connection.js';
import { proxyUrlOf, serverUrl } from './server-url.js';

/** A loaded configuration. */
export interface LoadedKubeconfig {
  readonly config: KubeConfig;
  /** Bearer token file of the current user, read again whenever credentials are renewed. */
  readonly tokenFile?: string;
}

/** Loads the configuration of a connection. Throws KubeconfigError. */
export async function loadKubeconfig(
  connection: Connection,
  plugins: ExecPlugins,
): Promise<LoadedKubeconfig> {
  const config = await emptyKubeConfig(plugins);
  let tokenFile: string | undefined;
  if (connection.kubeconfig) tokenFile = await loadFile(config, connection.kubeconfig, connection);
  else if (connection.master) {
    config.loadFromClusterAndUser(
      { name: 'master', server: '', skipTLSVerify: false },
      { name: 'anonymous' },
    );
    replaceParts(config.getCurrentCluster(), config.getCurrentUser(), connection.overrides);
  } else {
    tokenFile = loadInCluster(config, connection.serviceAccountRoot ?? '');
    replaceParts(config.getCurrentCluster(), config.getCurrentUser(), connection.overrides);
    if (connection.overrides?.token !== undefined) tokenFile = undefined;
  }
  const cluster = config.getCurrentCluster();
  if (cluster) {
    const server = serverUrl(connection, cluster, config.getCurrentUser());
    useServer(cluster, server, proxyUrlOf(connection, cluster, server));
  }
  return tokenFile ? { config, tokenFile } : { config };
}

async function loadFile(
  config: KubeConfig,
  file: string,
  { context, overrides = {} }: Connection,
): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new KubeconfigError(
      file,
      `cannot read the kubeconfig (${error.code ?? error.message})`,
      'check --kubeconfig or clientConnection.kubeconfig, and that the file is mounted and readable',
      { cause: error },
    );
  });
  const directory = resolve(dirname(file));
  const resolvePath = (path: string): string => resolve(directory, path);
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
  if (context !== undefined) config.setCurrentContext(context);
  const { cluster: clusterName, user: userName } = overrides;
  const chosen = { ...(clusterName && { cluster: clusterName }), ...(userName && { user: userName }) };
  Object.assign(config.getContextObject(config.getCurrentContext()) ?? {}, chosen);
  requireCurrent(config, file);
  replaceParts(config.getCurrentCluster(), config.getCurrentUser(), overrides);
  requireOneWayToVerify(config.getCurrentCluster(), file);
  const user = config.getCurrentUser();
  preferData(config.getCurrentCluster(), user);
  requireCertificates(config.getCurrentCluster()?.caData, file);
  if (!user) return undefined;
  rejectAuthProvider(user, file);
  prepareExecPlugin(user, resolvePath);
  const tokenFile = overrides.token === undefined ? tokenFileOf(text, user) : undefined;
  return tokenFile && resolvePath(tokenFile);
}

/** As kubectl does: a token replaces all other credentials but certificates, a file what the kubeconfig contains, and no verification its authority. */
function replaceParts(cluster: Cluster | null, user: User | null, overrides: ConnectionOverrides = {}): void {
  const { token, as: impersonateUser, clientCertificate, clientKey } = overrides;
  const { certificateAuthority, insecureSkipTlsVerify, tlsServerName } = overrides;
  Object.assign(user ?? {}, {
    ...(token !== undefined && { token, exec: undefined, authProvider: undefined }),
    ...(impersonateUser !== undefined && { impersonateUser }),
    ...(clientCertificate !== undefined && { certFile: resolve(clientCertificate), certData: undefined }),
    ...(clientKey !== undefined && { keyFile: resolve(clientKey), keyData: undefined }),
  });
  Object.assign(cluster ?? {}, {
    ...(certificateAuthority !== undefined && { caFile: resolve(certificateAuthority), caData: undefined }),
    ...(insecureSkipTlsVerify && { skipTLSVerify: true, caFile: undefined, caData: undefined }),
    ...(tlsServerName !== undefined && { tlsServerName }),
  });
}

function requireCurrent(config: KubeConfig, file: string): void {
  const current = config.getCurrentContext();
  const context = config.getContextObject(current);
  if (!context) {
    const names = config.getContexts().map(({ name }) => name);
    throw new KubeconfigError(
      file,
      `current-context is ${current ? `"${current}", which is not in contexts` : 'not set'}`,
      `set it to one of: ${names.join(', ') || '(no contexts in the file)'}`,
    );
  }
  if (!config.getCurrentCluster()) {
    throw new KubeconfigError(
      file,
      `context "${context.name}" names the cluster "${context.cluster}", which is not in clusters`,
      'add the cluster or correct the context',
    );
  }
  if (!context.user) {
    // Without a user, KubeConfig ignores the cluster's certificate authority as well.
    config.addUser({ name: 'anonymous' });
    Object.assign(context, { user: 'anonymous' });
  } else if (!config.getCurrentUser()) {
    throw new KubeconfigError(
      file,
      `context "${context.name}" names the user "${context.user}", which is not in users`,
      'add the user or correct the context',
    );
  }
}

/** `tokenFile` of the user: kubeadm's kube-proxy kubeconfig has it, and client-node does not support that key. */
function tokenFileOf(text: string, user: User): string | undefined {
  const document = load(text) as { users?: { name?: string; user?: { tokenFile?: unknown } | null }[] };
  const tokenFile = document.users?.find(({ name }) => name === user.name)?.user?.tokenFile;
  return typeof tokenFile === 'string' && tokenFile ? tokenFile : undefined;
}

function loadInCluster(config: KubeConfig, root: string): string {
  config.loadFromCluster(root);
  const tokenFile = config.getCurrentUser()?.authProvider?.config?.tokenFile as string;
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  if (!host || !port) {
    throw new KubeconfigError(
      'in-cluster',
      'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, so this process does not run in a pod',
      'set --kubeconfig or --master, or --manifests to run without an API server',
    );
  }
  return tokenFile;
}

/** As in client-go: a contradiction about what is verified must not be guessed away. */
function requireOneWayToVerify(cluster: Cluster | null, file: string): void {
  if (!cluster?.skipTLSVerify || !(cluster.caFile || cluster.caData)) return;
  throw new KubeconfigError(
    file,
    `cluster "${cluster.name}": specifying a root certificates file with the insecure flag is not allowed`,
    'remove insecure-skip-tls-verify or certificate-authority and certificate-authority-data',
  );
}

/** kube-proxy is built without any provider. */
function rejectAuthProvider({ name, authProvider }: User, file: string): void {
  if (!authProvider) return;
  throw new KubeconfigError(
    file,
    `user "${name}" has an auth-provider, and there is no Auth Provider for name "${authProvider.name}"`,
    'use token, tokenFile, a client certificate or an exec plugin',
  );
}

/** As in client-go: what the kubeconfig itself contains cannot become valid later, unlike files. */
function requireCertificates(authority: string | undefined, file: string): void {
  if (!authority || certificatesIn(decoded(authority)).length > 0) return;
  throw new KubeconfigError(
    file,
    'cannot read the certificate authority of the API server (unable to parse bytes as PEM block)',
    'clusters[].cluster.certificate-authority-data must hold certificates in PEM format',
  );
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g;

/**
 * The certificates in a PEM file. Unreadable ones are ignored, as in Go. Node would silently ignore all certificates after
 * an unreadable one, and trust no server if there is none.
 */
export function certificatesIn(pem: string): readonly string[] {
  return (pem.match(CERTIFICATE) ?? []).filter(isCertificate);
}

function isCertificate(block: string): boolean {
  try {
    return new X509Certificate(block).subject !== undefined;
  } catch {
    return false;
  }
}
