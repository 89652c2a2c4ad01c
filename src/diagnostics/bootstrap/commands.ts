import { ExitCode } from '../../adapters/cli/exit-code.js';
import { diff } from '../adapters/cli/commands/diff.js';
import { drainStatus } from '../adapters/cli/commands/drain-status.js';
import { explain } from '../adapters/cli/commands/explain.js';
import { history } from '../adapters/cli/commands/history.js';
import { services } from '../adapters/cli/commands/services.js';
import { status } from '../adapters/cli/commands/status.js';
import { top } from '../adapters/cli/commands/top.js';
import { validate } from '../adapters/cli/commands/validate.js';
import { version } from '../adapters/cli/commands/version.js';
import { complete, completionScript } from '../adapters/cli/commands/completion.js';
import { BundleArchiveError } from '../adapters/bundle/bundle.js';
import { dump } from '../adapters/cli/commands/dump.js';
import { QueriesError, trace } from '../adapters/cli/commands/trace.js';
import { QueryError } from '../adapters/cli/running-proxy.js';
import { subcommands, subcommandsOf, type Request } from '../adapters/cli/subcommands.js';
import { print, chooseColors } from '../adapters/cli/output.js';
import { printError } from '../../adapters/cli/print-error.js';
import { UsageError } from '../../adapters/cli/usage-error.js';
import { DumpError } from '../adapters/compare/dump-sides.js';
import { ManifestFiles } from '../../adapters/manifests/manifest-files.js';
import type { PinoLogger } from '../../adapters/process/pino-logger.js';
import { ComparisonError } from '../domain/compare/side.js';
import { errorMessage } from '../../application/error-message.js';
import { CannotTraceError } from '../application/trace/trace-packets.js';
import { completeCommandLine, type CommandLine } from '../../bootstrap/configuration/command-line.js';
import { ConfigurationError, EarlyExit } from '../../bootstrap/configuration/errors.js';
import { proxyFlags } from '../../bootstrap/configuration/flags.js';
import { localhostNodePortsChange } from '../../bootstrap/configuration/proxy-configuration.js';
import { PROGRAM_VERSION, thisVersion } from '../../bootstrap/version.js';
import type { Invocation } from './read-objects.js';
import { UnknownNodeError } from '../adapters/cli/cluster/cluster-command.js';

export { subcommandsOf };

type Command<Name extends Request['name']> = (
  invocation: Invocation<Name>,
  logger: PinoLogger,
) => Promise<number>;

/** Modules that read manifests, the kernel or the API server are loaded when their command runs. */
const commands: { readonly [Name in Request['name']]: Command<Name> } = {
  status,
  services,
  explain,
  trace: async (invocation, logger) => {
    if (invocation.manifests.length === 0) return trace(invocation);
    return (await import('./without-proxy.js')).traceManifests(invocation, logger);
  },
  diff: async (invocation, logger) => {
    if (!invocation.request.isPlanned && invocation.manifests.length === 0) return diff(invocation);
    return (await import('./without-proxy.js')).plannedDiff(invocation, logger);
  },
  history,
  top,
  'drain-status': drainStatus,
  dump: (invocation) => dump(invocation, PROGRAM_VERSION),
  cluster: async (invocation) =>
    invocation.request.query.kind === 'dump'
      ? (await import('../adapters/bundle/cluster-bundle.js')).dumpCluster(invocation, PROGRAM_VERSION)
      : (await import('../adapters/cli/cluster/query-cluster.js')).queryCluster(
          invocation,
          thisVersion(invocation.version),
        ),
  version: (invocation) => version(invocation, thisVersion(invocation.version)),
  plan: async (invocation, logger) => (await import('./without-proxy.js')).plan(invocation, logger),
  async completion({ request }) {
    await print(completionScript(request.shell));
    return 0;
  },
  __complete: (invocation) =>
    complete(
      invocation,
      subcommands,
      [...proxyFlags.keys()].map((name) => `--${name}`),
      (words) => addressIn(words) ?? invocation.configuration.metricsBindAddress,
    ),
  compare: async (invocation, logger) => (await import('./compare.js')).compare(invocation, logger),
  validate: (invocation) => validate(invocation, localhostNodePortsChange(invocation.configuration)),
};

/** Undefined if the command line is invalid: it is still being typed. */
function addressIn(words: readonly string[]): string | undefined {
  try {
    const { metricsBindAddress } = completeCommandLine(words, {}, undefined, subcommandsOf('')).configuration;
    return metricsBindAddress;
  } catch (error) {
    if (error instanceof UsageError || error instanceof ConfigurationError || error instanceof EarlyExit)
      return undefined;
    throw error;
  }
}

/** Those that read the manifests of the command line. */
const READERS: readonly Request['name'][] = ['plan', 'diff', 'compare', 'trace', 'validate'];

/** Errors whose message is enough for the user. */
const FOR_PEOPLE = [
  QueryError,
  CannotTraceError,
  QueriesError,
  BundleArchiveError,
  DumpError,
  ComparisonError,
  UnknownNodeError,
];

/** Runs the subcommand of the command line, and returns the exit code of the program. */
export async function runCommand(commandLine: CommandLine, logger: PinoLogger): Promise<number> {
  const name = commandLine.request.name as Request['name'];
  chooseColors(commandLine.color);
  try {
    // Before anything of this machine is touched.
    if (READERS.includes(name)) ManifestFiles.open(commandLine.manifests);
    return await commands[name](commandLine as never, logger);
  } catch (error) {
    if (!FOR_PEOPLE.some((kind) => error instanceof kind)) throw error;
    printError(`Error: ${errorMessage(error)}`);
    return error instanceof QueryError ? ExitCode.notReachable : ExitCode.problem;
  }
}
