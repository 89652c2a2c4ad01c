import type { Request, RequestFor } from '../adapters/cli/command-line/subcommands.js';
import type { CommandLine } from '../../bootstrap/configuration/command-line.js';

/** A command line that asks for this subcommand. */
export type Asked<Name extends Request['name']> = CommandLine & { readonly request: RequestFor<Name> };
