import type { PinoLogger } from '../../adapters/process/pino-logger.js';
import { completeCommandLine, type Asked, type CommandLine } from '../configuration/command-line.js';
import { ConfigurationError, EarlyExit } from '../configuration/errors.js';
import { thisVersion } from '../version.js';
import { print } from '../../adapters/cli/output/print.js';
import { UsageError } from '../../adapters/cli/usage-error.js';
import { flagFields } from '../configuration/flags/flags.js';
import type { Request } from '../../adapters/cli/command-line/subcommands.js';

/** Does what was asked for and returns the exit code of the program. */
export type Command = (asked: CommandLine, logger: PinoLogger) => Promise<number>;

type Subcommand<Name> = (asked: Asked<Name>, logger: PinoLogger) => Promise<number>;

const asking = () => import('../../adapters/cli/asking/commands.js');
const composing = () => import('./composing.js');

/** What the subcommands do. Each is loaded only when it is asked for: a proxy that serves needs none of them. */
const subcommands: {
  readonly [Name in Exclude<Request['name'], 'run'>]: () => Promise<Subcommand<Name>>;
} = {
  status: async () => (await asking()).status,
  services: async () => (await asking()).services,
  explain: async () => (await asking()).explain,
  trace: async () => (await import('./trace.js')).trace,
  diff: async () => (await import('./diff.js')).diff,
  history: async () => (await asking()).history,
  top: async () => (await asking()).top,
  dump: async () => (await asking()).dump,
  cluster: async () => {
    const { askCluster } = await import('../../adapters/cli/cluster/ask-cluster.js');
    return (asked) => askCluster(asked);
  },
  migrate: async () => (await import('../migration/migrate.js')).migrate,
  version: async () => {
    const { version } = await asking();
    return (asked) => version(asked, thisVersion(asked.version));
  },
  plan: async () => (await composing()).plan,
  completion: async () => {
    const { completionScript } = await import('../../adapters/cli/completion/script.js');
    return async ({ request }) => {
      await print(completionScript(request.shell));
      return 0;
    };
  },
  __complete: async () => {
    const { complete } = await import('../../adapters/cli/completion/complete.js');
    return (asked) =>
      complete(
        asked,
        [...flagFields.keys()].map((name) => `--${name}`),
        (words) => addressIn(words) ?? asked.configuration.metricsBindAddress,
      );
  },
  compare: async () => (await import('./compare.js')).compare,
  inspect: async () => (await import('../migration/inspect.js')).inspect,
  validate: async () => (await import('../../adapters/cli/validate.js')).validate,
};

/** Undefined where a command line cannot be understood, as somebody writes it yet. */
function addressIn(words: readonly string[]): string | undefined {
  try {
    return completeCommandLine(words).configuration.metricsBindAddress;
  } catch (error) {
    if (error instanceof UsageError || error instanceof ConfigurationError || error instanceof EarlyExit)
      return undefined;
    throw error;
  }
}

/** Those that read the manifests that are named. */
const READERS: readonly Request['name'][] = [
  'run',
  'plan',
  'diff',
  'compare',
  'inspect',
  'trace',
  'validate',
];

/** What this command line asks for. */
export async function chosenCommand(commandLine: CommandLine): Promise<Command> {
  const { request, writeConfigTo } = commandLine;
  if (writeConfigTo !== '') return (await import('./write-configuration.js')).writeConfiguration;
  if (request.name !== 'run') return (await subcommands[request.name]()) as Command;
  const { cleanup, initOnly, once, run } = await composing();
  if (commandLine.cleanup) return cleanup;
  if (commandLine.initOnly) return initOnly;
  return commandLine.once ? once : run;
}

/** Whether the manifests that are named will be read. */
export function readsManifests({ request, ...asked }: CommandLine): boolean {
  return READERS.includes(request.name) && !asked.writeConfigTo && !asked.cleanup && !asked.initOnly;
}
