import { ExitCode } from './adapters/cli/exit-code.js';
import { printError } from './adapters/cli/print-error.js';
import { thisReader } from './adapters/cli/reader.js';
import { UsageError } from './adapters/cli/usage-error.js';
import { ManifestPathError } from './adapters/manifests/manifest-files.js';
import { exitAtOnce } from './adapters/process/own-process.js';
import { PinoLogger } from './adapters/process/pino-logger.js';
import { errorMessage } from './application/error-message.js';
import type { Logger } from './application/ports/logger.js';
import {
  completeCommandLine,
  validateCommandLine,
  type CommandLine,
} from './bootstrap/configuration/command-line.js';
import { writeConfiguration } from './bootstrap/configuration/configuration-file.js';
import { ConfigurationError, EarlyExit } from './bootstrap/configuration/errors.js';
import { needsSubcommands } from './bootstrap/configuration/arguments.js';
import { flagValues } from './bootstrap/configuration/flags.js';
import { logSettings } from './bootstrap/configuration/proxy-configuration.js';

/**
 * Runs the proxy, or a command of its diagnostics, and returns the exit code of the program. The order is that of
 * docs/internals/spec/configuration.md §1.
 */
async function main(argv: readonly string[]): Promise<number> {
  const logger = PinoLogger.open({ verbosity: 0, format: 'text' });
  const reader = thisReader();
  const isCommand = needsSubcommands(argv, reader);
  try {
    const commands = isCommand ? await import('./diagnostics/bootstrap/commands.js') : undefined;
    const commandLine = completeCommandLine(argv, {}, reader, commands?.subcommandsOf(reader.program));
    logger.adjust(logSettings(commandLine.configuration));
    for (const warning of commandLine.warnings) logger.warn({}, warning);
    if (commandLine.configuration.logging.verbosity >= 1) logFlags(commandLine, logger);
    validateCommandLine(commandLine);
    if (commandLine.writeConfigTo !== '') {
      writeConfiguration(commandLine, logger);
      return 0;
    }
    if (commandLine.request.name !== 'run') return await commands!.runCommand(commandLine, logger);
    // Loaded now: --help and a wrong command line need none of it.
    const { runProxy } = await import('./bootstrap/run-proxy.js');
    return await runProxy(commandLine, logger);
  } catch (error) {
    return explainFailure(error, logger, isCommand);
  }
}

function logFlags(commandLine: CommandLine, logger: Logger): void {
  for (const [name, value] of flagValues(commandLine)) {
    logger.info({}, `FLAG: --${name}=${JSON.stringify(value)}`);
  }
}

/** @param isCommand the command line is not that of the proxy itself, which ends with 1 as kube-proxy does */
function explainFailure(error: unknown, logger: Logger, isCommand: boolean): number {
  if (error instanceof EarlyExit) {
    process.stdout.write(error.output);
    return error.code;
  }
  if (error instanceof UsageError) {
    printError(error.sentence);
    printError(`See "${error.asked} --help".`);
    if (isCommand) return ExitCode.usage;
  } else if (error instanceof ManifestPathError) printError(`Error: ${errorMessage(error)}`);
  else if (isCommand && error instanceof ConfigurationError) {
    printError(`Error: ${errorMessage(error)}`);
    return ExitCode.usage;
  } else logger.error({ error }, 'command failed');
  return ExitCode.problem;
}

// The clock's timers do not keep the process alive, and it must live until `main` returns.
setInterval(() => {}, 2 ** 30);
exitAtOnce(await main(process.argv.slice(2)));
