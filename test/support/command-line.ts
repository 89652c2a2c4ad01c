import { subcommandsOf, type Request } from '../../src/diagnostics/adapters/cli/subcommands.js';
import { NO_TERMINAL } from '../../src/adapters/cli/reader.js';
import { parseCommandLine, type Machine } from '../../src/bootstrap/configuration/command-line.js';
import type { Invocation } from '../../src/diagnostics/bootstrap/read-objects.js';

/** A command line as the program reads it where it may name a subcommand. */
export function parseCommand<Name extends Request['name'] = never>(
  argv: readonly string[],
  dependencies: Machine = {},
  reader = NO_TERMINAL,
): Invocation<Name> {
  return parseCommandLine(argv, dependencies, reader, subcommandsOf(reader.program)) as Invocation<Name>;
}
