import { PinoLogger } from '../../src/adapters/process/pino-logger.js';
import { once } from '../../src/bootstrap/commands/once.js';
import { plan } from '../../src/bootstrap/commands/plan.js';
import { parseCommandLine, type Asked } from '../../src/bootstrap/configuration/command-line.js';

/** `--once` and `plan` as the program has them, but that they wait for a silent API server for a second only. */
const commandLine = parseCommandLine(process.argv.slice(2));
const logger = PinoLogger.open({ verbosity: 0, format: 'text' });
setInterval(() => {}, 2 ** 30);
const isPlan = commandLine.request.name === 'plan';
process.exit(
  await (isPlan ? plan(commandLine as Asked<'plan'>, logger, 1_000) : once(commandLine, logger, 1_000)),
);
