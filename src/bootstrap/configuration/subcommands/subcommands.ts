import { cluster } from './cluster.js';
import { diff } from './diff.js';
import { explain } from './explain.js';
import { plan } from './plan.js';
import type { Subcommand } from './subcommand.js';
import { validate } from './validate.js';

/** All subcommands, in the order of `--help`. */
export const subcommands: readonly Subcommand[] = [plan, explain, diff, cluster, validate];
