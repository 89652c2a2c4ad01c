/** The API server as the user of a command reaches it: kubeconfig, client, and pods by name. */

import type { Invocation } from '../cli/options.js';
import { ApiClient } from '../../../adapters/kubernetes/client/api-client.js';
import {
  ApiConnectionError,
  ApiError,
  ApiProtocolError,
} from '../../../adapters/kubernetes/client/api-error.js';
import {
  CredentialsError,
  KubeconfigError,
  type ConnectionOverrides,
} from '../../../adapters/kubernetes/connection/connection.js';
import type { Clock } from '../../../application/ports/clock.js';
import { errorMessage } from '../../../application/error-message.js';
import { QueryError } from '../cli/running-proxy.js';
import type { KnownPod, NamedPod } from '../../application/trace/named-ends.js';
import { fields, list, optional, text } from '../../../domain/shape.js';
import { listAll } from '../../../adapters/kubernetes/client/send.js';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { loadAll } from 'js-yaml';
import { SystemClock } from '../../../adapters/process/system-clock.js';

/** An exec plugin may ask a person to log in. Milliseconds. */
const PLUGIN = 120_000;

/** Of the API server, and on the way to it. */
const FAILURES = [ApiError, ApiConnectionError, ApiProtocolError, CredentialsError, KubeconfigError];

/** What names the API server on a command line. */
type ApiAccess = Pick<Invocation<unknown>, 'master' | 'configuration'>;

/** The flags of kubectl for the same; none on a node. */
interface UserAccess {
  /** Of the kubeconfig; undefined: the current one. */
  readonly context?: string | undefined;
  /** URL of the API server, instead of the kubeconfig's. */
  readonly server?: string | undefined;
  readonly overrides?: ConnectionOverrides;
}

/**
 * A client of the cluster that `--kubeconfig`, KUBECONFIG, `~/.kube/config` or the pod around this process names.
 * @throws KubeconfigError when the files do not name a cluster, QueryError without any
 */
export async function userApiClient(
  { master, configuration }: ApiAccess,
  clock: Clock,
  { context, server = master, overrides }: UserAccess = {},
): Promise<ApiClient> {
  const kubeconfig = configuration.clientConnection.kubeconfig || (await userKubeconfig(context));
  if (!kubeconfig && !server && !process.env.KUBERNETES_SERVICE_HOST)
    throw new QueryError(
      'there is no kubeconfig, neither in KUBECONFIG nor ~/.kube/config; name one with --kubeconfig',
    );
  return new ApiClient(
    {
      ...(kubeconfig && { kubeconfig }),
      ...(context && { context }),
      ...(server && { master: server }),
      ...(overrides && { overrides }),
    },
    clock,
    { timeouts: { plugin: PLUGIN } },
  );
}

/**
 * What the API server answers. @throws QueryError if it does not
 * @param explain makes the message
 */
export async function queryApiServer<Answer>(
  request: () => Promise<Answer>,
  explain: (problem: string) => string = (problem) => problem,
): Promise<Answer> {
  try {
    return await request();
  } catch (error) {
    if (FAILURES.some((kind) => error instanceof kind))
      throw new QueryError(explain(errorMessage(error)), { cause: error });
    throw error;
  }
}

const podShape = fields({
  metadata: fields({ name: text, namespace: text }),
  status: optional(fields({ phase: optional(text), podIPs: optional(list(fields({ ip: text }))) })),
});

/**
 * The pods of that name: in its namespace, or in all. Needs the right to list pods there.
 * @throws ApiError, ApiConnectionError, ApiProtocolError, CredentialsError, KubeconfigError
 */
async function podsNamed(client: ApiClient, { pod }: NamedPod): Promise<readonly KnownPod[]> {
  const [name = '', namespace] = pod.split('/').reverse();
  const selection = { ...(namespace !== undefined && { namespace }), fieldSelector: `metadata.name=${name}` };
  const { listPods } = await import('./cluster-requests.js');
  const pods = await listAll(client, listPods(selection), podShape);
  return pods.map(({ metadata, status }) => ({
    pod: `${metadata.namespace}/${metadata.name}`,
    phase: status?.phase ?? 'Pending',
    ips: status?.podIPs?.map(({ ip }) => ip) ?? [],
  }));
}

type Environment = Readonly<Record<string, string | undefined>>;

interface Document {
  readonly 'current-context'?: unknown;
  readonly contexts?: readonly { readonly name?: unknown }[] | null;
}

/**
 * The kubeconfig of the user who runs a command, as for kubectl: from the files in KUBECONFIG, else `~/.kube/config`. Of several
 * files it is the first that has the context: the requested one, else the first current one of any file. A context and what
 * it names must stand in one file. Undefined: the user has none.
 * @throws KubeconfigError if no file has that context
 */
export async function userKubeconfig(
  context: string | undefined,
  environment: Environment = process.env,
  home = homedir(),
): Promise<string | undefined> {
  const listed = (environment.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  const files = listed.length > 0 ? listed : [join(home, '.kube', 'config')];
  const read = await Promise.all(files.map(async (file) => ({ file, document: await documentOf(file) })));
  const present = read.flatMap(({ file, document }) => (document ? [{ file, document }] : []));
  if (present.length <= 1) return present[0]?.file;
  const wanted = context ?? present.map(({ document }) => document['current-context']).find(Boolean);
  const owner = present.find(({ document }) => document.contexts?.some(({ name }) => name === wanted));
  if (owner) return owner.file;
  throw new KubeconfigError(
    files.join(delimiter),
    wanted === undefined ? 'no file has a current-context' : `no file has the context "${String(wanted)}"`,
    'choose one with --context',
  );
}

/** Undefined if there is no such file. */
async function documentOf(file: string): Promise<Document | undefined> {
  try {
    return (loadAll(await readFile(file, 'utf8'))[0] as Document | null | undefined) ?? {};
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new KubeconfigError(file, `cannot read the kubeconfig (${errorMessage(error)})`, 'check the file', {
      cause: error,
    });
  }
}

/** Finds pods by name, with the rights of the user. Rejects with QueryError if it does not answer. */
export function podsOfCluster(
  access: ApiAccess,
  user?: UserAccess,
): (named: NamedPod) => Promise<readonly KnownPod[]> {
  return (named) =>
    queryApiServer(
      async () => {
        const client = await userApiClient(access, new SystemClock(), user);
        try {
          return await podsNamed(client, named);
        } finally {
          client.close();
        }
      },
      (problem) => `cannot look up pod ${named.pod}; use its address instead: ${problem}`,
    );
}
