import { ManifestPathError } from '../adapters/manifests/manifest-errors.js';
import { ManifestFiles } from '../adapters/manifests/files/manifest-files.js';
import { exitAtOnce } from '../adapters/process/exit-at-once.js';
import { PinoLogger } from '../adapters/process/pino-logger.js';
import type { Logger } from '../application/ports/logger.js';
import { errorMessage } from '../application/error-message.js';
import { ComparisonError } from '../application/compare/comparison-error.js';
import { CannotTraceError } from '../application/trace/trace-packets.js';
import { CANNOT_ASK, CannotAskError } from '../adapters/cli/asking/cannot-ask-error.js';
import { chosenCommand, readsManifests } from './commands/commands.js';
import { DumpError } from '../adapters/compare/dump-sides.js';
import { BundleFolderError } from '../adapters/cli/dump/bundle-folder.js';
import { thisReader } from '../adapters/cli/output/this-reader.js';
import { chooseColors } from '../adapters/cli/output/tones.js';
import { complain } from '../adapters/cli/output/print.js';
import { QueriesError } from '../adapters/cli/tracing/queries-error.js';
import { completeCommandLine, validateCommandLine, type CommandLine } from './configuration/command-line.js';
import { EarlyExit } from './configuration/errors.js';
import { UsageError } from '../adapters/cli/usage-error.js';
import { flagValues } from './configuration/flags/flags.js';
import { logSettings } from './configuration/log-settings.js';

/** Errors of whoever asks, whose message says all. */
const FOR_PEOPLE = [
  ManifestPathError,
  CannotAskError,
  CannotTraceError,
  QueriesError,
  BundleFolderError,
  DumpError,
  ComparisonError,
];

/** Runs the program and returns its exit code. The order is that of docs/spec/configuration.md §1. */
async function main(argv: readonly string[]): Promise<number> {
  const logger = PinoLogger.open({ verbosity: 0, format: 'text' });
  try {
    const commandLine = completeCommandLine(argv, {}, thisReader());
    chooseColors(commandLine.color);
    logger.adjust(logSettings(commandLine.configuration));
    for (const warning of commandLine.warnings) logger.warn({}, warning);
    if (commandLine.configuration.logging.verbosity >= 1) logFlags(commandLine, logger);
    validateCommandLine(commandLine);
    // Before anything of this machine is touched.
    if (readsManifests(commandLine)) ManifestFiles.open(commandLine.manifests);
    const command = await chosenCommand(commandLine);
    return await command(commandLine, logger);
  } catch (error) {
    return explainFailure(error, logger);
  }
}

function logFlags(commandLine: CommandLine, logger: Logger): void {
  for (const [name, value] of flagValues(commandLine)) {
    logger.info({}, `FLAG: --${name}=${JSON.stringify(value)}`);
  }
}

function explainFailure(error: unknown, logger: Logger): number {
  if (error instanceof EarlyExit) {
    process.stdout.write(error.output);
    return error.code;
  }
  if (error instanceof UsageError) {
    complain(error.sentence);
    complain(`See "${error.asked} --help".`);
  } else if (FOR_PEOPLE.some((kind) => error instanceof kind)) complain(`Error: ${errorMessage(error)}`);
  else logger.error({ error }, 'command failed');
  return error instanceof CannotAskError ? CANNOT_ASK : 1;
}

// The clock's timers do not keep the process alive, and it must live until `main` returns.
setInterval(() => {}, 2 ** 30);
exitAtOnce(await main(process.argv.slice(2)));
