import { PinoLogger } from '../../src/adapters/process/pino-logger.js';
import { once } from '../../src/bootstrap/run-proxy.js';
import { plan } from '../../src/diagnostics/bootstrap/without-proxy.js';
import { parseCommand } from '../support/command-line.js';

/** `--once` and `plan` as the program has them, but that they wait for a silent API server for a second only. */
const commandLine = parseCommand<'plan'>(process.argv.slice(2));
const logger = PinoLogger.open({ verbosity: 0, format: 'text' });
setInterval(() => {}, 2 ** 30);
const isPlan = String(commandLine.request.name) === 'plan';
process.exit(await (isPlan ? plan(commandLine, logger, 1_000) : once(commandLine, logger, 1_000)));
