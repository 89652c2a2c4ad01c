import { ApiClient } from '../adapters/kubernetes/client/api-client.js';
import { ApiConnectionError } from '../adapters/kubernetes/client/api-error.js';
import { SystemClock } from '../adapters/process/system-clock.js';
import { errorMessage } from '../application/error-message.js';
import type { Clock } from '../application/ports/clock.js';
import type { Logger } from '../application/ports/logger.js';
import { delay } from '../application/retries.js';
import { fields, text } from '../domain/shape.js';
import { withRelease, type CommandLine } from './configuration/command-line.js';
import { releaseOfServer, type ServerVersion } from './configuration/releases.js';

/** How long a start waits for the version of the API server. Milliseconds. */
const TIMEOUT = 5_000;
const RETRY_AFTER = 500;

const NEVER = new AbortController().signal;

const serverVersion = fields({ major: text, minor: text });

/**
 * The command line, for the release of the API server where none is configured: from 1.38 on. If the server does not answer in time, the
 * usual release stays until the next start.
 * @param stopping ends it
 * @throws ConfigurationError if the configuration is invalid for that release, the signal's reason when aborted
 */
export async function followRelease(
  commandLine: CommandLine,
  logger: Logger,
  stopping: AbortSignal = NEVER,
  clock: Clock = new SystemClock(),
): Promise<CommandLine> {
  if (commandLine.isReleaseSet || commandLine.manifests.length > 0) return commandLine;
  const usual = commandLine.configuration.kubernetesVersion;
  const { version, problem } = await versionOfServer(commandLine, stopping, clock);
  stopping.throwIfAborted();
  if (!version) {
    logger.info(
      { error: problem, kubernetes: usual },
      'cannot read the version of the API server, and --kubernetes-version is not set; using the default',
    );
    return commandLine;
  }
  const release = releaseOfServer(version) ?? usual;
  if (release === usual) return commandLine;
  const server = `${version.major}.${version.minor}`;
  logger.info({ server, kubernetes: release }, 'following the release of the API server');
  return withRelease(commandLine, release);
}

async function versionOfServer(
  { master, configuration }: CommandLine,
  stopping: AbortSignal,
  clock: Clock,
): Promise<{ readonly version?: ServerVersion; readonly problem?: string }> {
  const { kubeconfig } = configuration.clientConnection;
  const client = new ApiClient({ ...(kubeconfig && { kubeconfig }), ...(master && { master }) }, clock);
  const late = new AbortController();
  const signal = AbortSignal.any([late.signal, stopping]);
  const timer = clock.after(TIMEOUT, () => late.abort(new Error(`no answer within ${TIMEOUT / 1_000} s`)));
  // Ends a plugin that hangs, too.
  const close = (): void => client.close();
  stopping.addEventListener('abort', close);
  let problem = '';
  try {
    while (!signal.aborted) {
      try {
        return { version: serverVersion(await client.json({ path: '/version', signal }), '') };
      } catch (error) {
        problem = errorMessage(error);
        if (!(error instanceof ApiConnectionError)) break;
      }
      await delay(clock, RETRY_AFTER, signal);
    }
  } finally {
    timer.cancel();
    stopping.removeEventListener('abort', close);
    close();
  }
  return { problem };
}
