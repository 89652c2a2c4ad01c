import { explain } from './explain.js';
import { plan } from './plan.js';
import type { Subcommand } from './subcommand.js';
import { top } from './top.js';
import { validate } from './validate.js';

/** All subcommands, in the order of `--help`. */
export const subcommands: readonly Subcommand[] = [plan, explain, top, validate];
