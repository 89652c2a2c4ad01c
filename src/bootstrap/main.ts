import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { PinoLogger } from '../adapters/process/pino-logger.js';
import type { Logger } from '../application/ports/logger.js';
import { cleanup } from './commands/cleanup.js';
import { once } from './commands/once.js';
import { plan } from './commands/plan.js';
import { run } from './commands/run.js';
import { parseCommandLine, type CommandLine } from './configuration/command-line.js';
import { ConfigurationError, EarlyExit, UsageError } from './configuration/errors.js';

/** Runs the program and answers its exit code. */
async function main(argv: readonly string[]): Promise<number> {
  try {
    const commandLine = parseCommandLine(argv, { readFile: (path) => readFileSync(path, 'utf8'), hostname });
    refuseWhatDoesNothing(commandLine);
    const { verbosity, format } = commandLine.configuration.logging;
    const logger = PinoLogger.open({ verbosity, format: format === 'json' ? 'json' : 'text' });
    for (const warning of commandLine.warnings) logger.warn({}, warning);
    return await execute(commandLine, logger);
  } catch (error) {
    return explain(error);
  }
}

async function execute(commandLine: CommandLine, logger: Logger): Promise<number> {
  const command = chosenCommand(commandLine);
  try {
    return await command(commandLine, logger);
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    logger.error({ error }, 'command failed');
    return 1;
  }
}

function chosenCommand({ command, cleanup: removes, once: justOnce }: CommandLine): typeof run {
  if (command === 'plan') return plan;
  if (removes) return cleanup;
  return justOnce ? once : run;
}

function refuseWhatDoesNothing({ initOnly, writeConfigTo }: CommandLine): void {
  for (const [flag, wish] of Object.entries({
    '--init-only': initOnly,
    '--write-config-to': writeConfigTo,
  })) {
    if (wish) throw new ConfigurationError('failed validate', [`${flag} is not available yet`]);
  }
}

function explain(error: unknown): number {
  if (error instanceof EarlyExit) {
    process.stdout.write(error.output);
    return error.code;
  }
  if (error instanceof UsageError) process.stderr.write(`${error.usage}\nError: ${error.message}\n`);
  else process.stderr.write(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
}

// The clock's timers let the process end; only an answer may end it.
setInterval(() => {}, 2 ** 30);
process.exit(await main(process.argv.slice(2)));
