import { cluster } from './cluster.js';
import { diff } from './diff.js';
import { dump } from './dump.js';
import { explain } from './explain.js';
import { history } from './history.js';
import { plan } from './plan.js';
import { services } from './services.js';
import { status } from './status.js';
import type { Subcommand } from './subcommand.js';
import { top } from './top.js';
import { trace } from './trace.js';
import { validate } from './validate.js';

/** All subcommands, in the order of `--help`. */
export const subcommands = [
  status,
  services,
  explain,
  trace,
  diff,
  history,
  top,
  dump,
  cluster,
  plan,
  validate,
] as const;

type RequestOf<One> = One extends Subcommand<infer Request> ? Request : never;

/** What the program is asked to do; `run` when no subcommand is named. */
export type Request = { readonly name: 'run' } | RequestOf<(typeof subcommands)[number]>;
