import { CANNOT_ASK, CannotAskError } from '../adapters/cli/asking/cannot-ask-error.js';
import { subcommandsOf, type Request } from '../adapters/cli/command-line/subcommands.js';
import { BundleFolderError } from '../adapters/cli/dump/bundle-folder.js';
import { print } from '../adapters/cli/output/print.js';
import { chooseColors } from '../adapters/cli/output/tones.js';
import { printError } from '../../adapters/cli/print-error.js';
import { QueriesError } from '../adapters/cli/tracing/queries-error.js';
import { UsageError } from '../../adapters/cli/usage-error.js';
import { DumpError } from '../adapters/compare/dump-sides.js';
import { ManifestFiles } from '../../adapters/manifests/manifest-files.js';
import type { PinoLogger } from '../../adapters/process/pino-logger.js';
import { ComparisonError } from '../application/compare/comparison-error.js';
import { errorMessage } from '../../application/error-message.js';
import { CannotTraceError } from '../application/trace/trace-packets.js';
import { completeCommandLine, type CommandLine } from '../../bootstrap/configuration/command-line.js';
import { ConfigurationError, EarlyExit } from '../../bootstrap/configuration/errors.js';
import { flagFields } from '../../bootstrap/configuration/flags/flags.js';
import { thisVersion } from '../../bootstrap/version.js';
import type { Asked } from './read-objects.js';

export { subcommandsOf };

type Command<Name extends Request['name']> = (asked: Asked<Name>, logger: PinoLogger) => Promise<number>;

const asking = () => import('../adapters/cli/asking/commands.js');

/** Each is loaded only when somebody runs it. */
const commands: { readonly [Name in Request['name']]: () => Promise<Command<Name>> } = {
  status: async () => (await asking()).status,
  services: async () => (await asking()).services,
  explain: async () => (await asking()).explain,
  trace: async () => (await import('./trace.js')).trace,
  diff: async () => (await import('./diff.js')).diff,
  history: async () => (await asking()).history,
  top: async () => (await asking()).top,
  dump: async () => (await asking()).dump,
  cluster: async () => {
    const { askCluster } = await import('../adapters/cli/cluster/ask-cluster.js');
    return (asked) => askCluster(asked);
  },
  version: async () => {
    const { version } = await asking();
    return (asked) => version(asked, thisVersion(asked.version));
  },
  plan: async () => (await import('./plan.js')).plan,
  completion: async () => {
    const { completionScript } = await import('../adapters/cli/completion/script.js');
    return async ({ request }) => {
      await print(completionScript(request.shell));
      return 0;
    };
  },
  __complete: async () => {
    const { complete } = await import('../adapters/cli/completion/complete.js');
    return (asked) =>
      complete(
        asked,
        [...flagFields.keys()].map((name) => `--${name}`),
        (words) => addressIn(words) ?? asked.configuration.metricsBindAddress,
      );
  },
  compare: async () => (await import('./compare.js')).compare,
  validate: async () => (await import('../adapters/cli/validate.js')).validate,
};

/** Undefined where a command line cannot be understood, as somebody writes it yet. */
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

/** Errors whose message says all that the user needs. */
const FOR_PEOPLE = [
  CannotAskError,
  CannotTraceError,
  QueriesError,
  BundleFolderError,
  DumpError,
  ComparisonError,
];

/** Runs the subcommand that the command line asks for, and returns the exit code of the program. */
export async function runCommand(commandLine: CommandLine, logger: PinoLogger): Promise<number> {
  const name = commandLine.request.name as Request['name'];
  chooseColors(commandLine.color);
  try {
    // Before anything of this machine is touched.
    if (READERS.includes(name)) ManifestFiles.open(commandLine.manifests);
    const command = await commands[name]();
    return await command(commandLine as Asked<never>, logger);
  } catch (error) {
    if (!FOR_PEOPLE.some((kind) => error instanceof kind)) throw error;
    printError(`Error: ${errorMessage(error)}`);
    return error instanceof CannotAskError ? CANNOT_ASK : 1;
  }
}
