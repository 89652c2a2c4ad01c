import { ApiClient } from '../../../../adapters/kubernetes/client/api-client.js';
import {
  ApiConnectionError,
  ApiError,
  ApiProtocolError,
} from '../../../../adapters/kubernetes/client/api-error.js';
import { CredentialsError, KubeconfigError } from '../../../../adapters/kubernetes/connection/connection.js';
import { userKubeconfig } from '../../kubernetes/user-kubeconfig.js';
import type { Clock } from '../../../../application/ports/clock.js';
import { errorMessage } from '../../../../application/error-message.js';
import { CannotAskError } from '../asking/cannot-ask-error.js';
import type { Asked } from '../command-line/subcommands.js';

/** An exec plugin may ask a person to log in. Milliseconds. */
const PLUGIN = 120_000;

/** Of the API server, and on the way to it. */
const FAILURES = [ApiError, ApiConnectionError, ApiProtocolError, CredentialsError, KubeconfigError];

/** What names the API server on a command line. */
export type ApiAccess = Pick<Asked<'cluster'>, 'master' | 'configuration'>;

/**
 * A client of the cluster that `--kubeconfig`, KUBECONFIG, `~/.kube/config` or the pod around this process names.
 * @param context of the kubeconfig; undefined: the current one
 * @throws KubeconfigError when the files do not name a cluster, CannotAskError without any
 */
export async function userApiClient(
  { master, configuration }: ApiAccess,
  clock: Clock,
  context?: string,
): Promise<ApiClient> {
  const kubeconfig = configuration.clientConnection.kubeconfig || (await userKubeconfig(context));
  if (!kubeconfig && !master && !process.env.KUBERNETES_SERVICE_HOST)
    throw new CannotAskError(
      'there is no kubeconfig, neither in KUBECONFIG nor ~/.kube/config; name one with --kubeconfig',
    );
  return new ApiClient(
    { ...(kubeconfig && { kubeconfig }), ...(context && { context }), ...(master && { master }) },
    clock,
    { timeouts: { plugin: PLUGIN } },
  );
}

/** What the API server answers. @throws CannotAskError if it does not */
export async function askApiServer<Answer>(question: () => Promise<Answer>): Promise<Answer> {
  try {
    return await question();
  } catch (error) {
    if (FAILURES.some((kind) => error instanceof kind))
      throw new CannotAskError(errorMessage(error), { cause: error });
    throw error;
  }
}
