import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { dirname, join } from 'node:path';
import { errorMessage } from '../../../application/error-message.js';
import { KubeconfigError, type Connection } from './connection.js';
import {
  parseKubeconfig,
  type Cluster,
  type Context,
  type KubeconfigFile,
  type User,
} from './kubeconfig-file.js';
import { proxyUrlOf, serverUrl } from './server-url.js';

/** The API server, and who is to talk to it. */
export interface Kubeconfig {
  readonly cluster: Cluster;
  readonly user: User;
}

const ANONYMOUS: User = { name: 'anonymous' };

/** Loads the configuration of a connection. Throws KubeconfigError. */
export async function loadKubeconfig(connection: Connection): Promise<Kubeconfig> {
  const { cluster, user } = await loadFrom(connection);
  const server = serverUrl(connection, cluster, user);
  return { cluster: { ...cluster, server, proxyUrl: proxyUrlOf(connection, cluster, server) }, user };
}

async function loadFrom({
  kubeconfig,
  context,
  master,
  serviceAccountRoot,
}: Connection): Promise<Kubeconfig> {
  if (kubeconfig) return loadFile(kubeconfig, context);
  if (master) return { cluster: { name: 'master', server: '' }, user: ANONYMOUS };
  return loadInCluster(serviceAccountRoot ?? '');
}

async function loadFile(file: string, context: string | undefined): Promise<Kubeconfig> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new KubeconfigError(
      file,
      `cannot read the kubeconfig (${error.code ?? error.message})`,
      'check --kubeconfig or clientConnection.kubeconfig, and that the file is mounted and readable',
      { cause: error },
    );
  });
  const config = parsed(text, file);
  const current = contextOf(config, context ?? config.currentContext, file);
  const cluster = config.clusters.find(({ name }) => name === current.cluster);
  if (!cluster)
    throw new KubeconfigError(
      file,
      `context "${current.name}" names the cluster "${current.cluster}", which is not in clusters`,
      'add the cluster or correct the context',
    );
  requireOneWayToVerify(cluster, file);
  const user = current.user ? config.users.find(({ name }) => name === current.user) : ANONYMOUS;
  if (!user)
    throw new KubeconfigError(
      file,
      `context "${current.name}" names the user "${current.user}", which is not in users`,
      'add the user or correct the context',
    );
  refuseAuthProvider(user, file);
  return { cluster, user };
}

function parsed(text: string, file: string): KubeconfigFile {
  try {
    return parseKubeconfig(text, dirname(file));
  } catch (error) {
    throw new KubeconfigError(
      file,
      `not a valid kubeconfig (${errorMessage(error)})`,
      'it must be YAML or JSON of kind Config with clusters, users and contexts',
      { cause: error },
    );
  }
}

function contextOf({ contexts }: KubeconfigFile, current: string | undefined, file: string): Context {
  const context = contexts.find(({ name }) => name === current);
  if (context) return context;
  const names = contexts.map(({ name }) => name);
  throw new KubeconfigError(
    file,
    `current-context is ${current ? `"${current}", which is not in contexts` : 'not set'}`,
    `set it to one of: ${names.join(', ') || '(no contexts in the file)'}`,
  );
}

function loadInCluster(root: string): Kubeconfig {
  const account = join(root, '/var/run/secrets/kubernetes.io/serviceaccount');
  const tokenFile = join(account, 'token');
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  if (!host || !port || !existsSync(tokenFile)) {
    throw new KubeconfigError(
      'in-cluster',
      !host || !port
        ? 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, so this process does not run in a pod'
        : `the service account token ${tokenFile} does not exist`,
      'set --kubeconfig or --master, or --manifests to run without an API server',
    );
  }
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  return {
    cluster: { name: 'in-cluster', server, authority: { file: join(account, 'ca.crt') } },
    user: { name: 'service-account', tokenFile },
  };
}

/** As in client-go: a contradiction about what is verified must not be guessed away. */
function requireOneWayToVerify({ name, insecure, authority }: Cluster, file: string): void {
  if (!insecure || !authority) return;
  throw new KubeconfigError(
    file,
    `cluster "${name}": specifying a root certificates file with the insecure flag is not allowed`,
    'remove insecure-skip-tls-verify or certificate-authority and certificate-authority-data',
  );
}

/** kube-proxy is built without any provider. */
function refuseAuthProvider({ name, authProvider }: User, file: string): void {
  if (authProvider === undefined) return;
  throw new KubeconfigError(
    file,
    `user "${name}" has an auth-provider, and there is no Auth Provider for name "${authProvider}"`,
    'use token, tokenFile, a client certificate or an exec plugin',
  );
}
