import type { PinoLogger } from '../../adapters/process/pino-logger.js';
import type { Asked, CommandLine } from '../configuration/command-line.js';
import type { Request } from '../configuration/subcommands/subcommand.js';
import { cleanup } from './cleanup.js';
import { explain } from './asking/explain.js';
import { history } from './asking/history.js';
import { services } from './asking/services.js';
import { status } from './asking/status.js';
import { initOnly } from './init-only.js';
import { once } from './once.js';
import { plan } from './plan.js';
import { run } from './run.js';
import { top } from './top/top.js';
import { trace } from './trace.js';
import { validate } from './validate.js';
import { writeConfiguration } from './write-configuration.js';

/** Does what was asked for and returns the exit code of the program. */
export type Command = (asked: CommandLine, logger: PinoLogger) => Promise<number>;

/** What the subcommands do. */
const subcommands: { readonly [Name in Exclude<Request['name'], 'run'>]: Subcommand<Name> } = {
  status,
  services,
  explain,
  trace,
  history,
  top,
  plan,
  validate,
};

type Subcommand<Name> = (asked: Asked<Name>, logger: PinoLogger) => Promise<number>;

/** The commands that read manifests. */
const READERS: ReadonlySet<unknown> = new Set([run, once, plan, trace, validate]);

/** What this command line asks for. */
export function chosenCommand({ request, writeConfigTo, cleanup: cleans, ...asked }: CommandLine): Command {
  if (writeConfigTo !== undefined) return writeConfiguration;
  if (request.name !== 'run') return subcommands[request.name] as Command;
  if (cleans) return cleanup;
  if (asked.initOnly) return initOnly;
  return asked.once ? once : run;
}

/** Whether the command reads the manifests that are named. */
export function readsManifests(command: Command): boolean {
  return READERS.has(command);
}
