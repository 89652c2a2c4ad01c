import type { PinoLogger } from '../../adapters/process/pino-logger.js';
import type { Asked, CommandLine } from '../configuration/command-line.js';
import type { Request } from '../../adapters/cli/arguments/subcommands.js';

/** Does what was asked for and returns the exit code of the program. */
export type Command = (asked: CommandLine, logger: PinoLogger) => Promise<number>;

type Subcommand<Name> = (asked: Asked<Name>, logger: PinoLogger) => Promise<number>;

/** What the subcommands do. Each is loaded only when it is asked for: a proxy that serves needs none of them. */
const subcommands: {
  readonly [Name in Exclude<Request['name'], 'run'>]: () => Promise<Subcommand<Name>>;
} = {
  status: async () => (await import('../../adapters/cli/asking/status.js')).status,
  services: async () => (await import('../../adapters/cli/asking/services.js')).services,
  explain: async () => (await import('../../adapters/cli/asking/explain.js')).explain,
  trace: async () => (await import('./trace.js')).trace,
  diff: async () => (await import('../../adapters/cli/asking/diff.js')).diff,
  history: async () => (await import('../../adapters/cli/asking/history.js')).history,
  top: async () => (await import('../../adapters/cli/top/top.js')).top,
  dump: async () => (await import('../../adapters/cli/dump/dump.js')).dump,
  cluster: async () => {
    const { askCluster } = await import('../../adapters/cli/cluster/ask-cluster.js');
    return (asked) => askCluster(asked);
  },
  plan: async () => (await import('./plan.js')).plan,
  validate: async () => (await import('../../adapters/cli/validate.js')).validate,
};

/** Those that read the manifests that are named. */
const READERS: readonly Request['name'][] = ['run', 'plan', 'trace', 'validate'];

/** What this command line asks for. */
export async function chosenCommand(commandLine: CommandLine): Promise<Command> {
  const { request, writeConfigTo } = commandLine;
  if (writeConfigTo !== '') return (await import('./write-configuration.js')).writeConfiguration;
  if (request.name !== 'run') return (await subcommands[request.name]()) as Command;
  if (commandLine.cleanup) return (await import('./cleanup.js')).cleanup;
  if (commandLine.initOnly) return (await import('./init-only.js')).initOnly;
  return commandLine.once ? (await import('./once.js')).once : (await import('./run.js')).run;
}

/** Whether the manifests that are named will be read. */
export function readsManifests({ request, ...asked }: CommandLine): boolean {
  return READERS.includes(request.name) && !asked.writeConfigTo && !asked.cleanup && !asked.initOnly;
}
