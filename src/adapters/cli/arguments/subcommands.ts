import { cluster } from './cluster.js';
import { complete, completion } from './completion.js';
import { compare } from '../comparing/compare-arguments.js';
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
import { version } from './version.js';
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
  version,
  cluster,
  plan,
  compare,
  validate,
  completion,
  complete,
] as const;

type RequestOf<One> =
  One extends Subcommand<infer Name, never, infer Asked> ? { readonly name: Name } & Asked : never;

/** What the program is asked to do; `run` when no subcommand is named. */
export type Request = { readonly name: 'run' } | RequestOf<(typeof subcommands)[number]>;

/** What a subcommand is asked to do. */
export type RequestFor<Name extends Request['name']> = Extract<Request, { readonly name: Name }>;

/** A command line that asks for this subcommand, as far as commands read it. */
export interface Asked<Name extends Request['name']> {
  readonly request: RequestFor<Name>;
  readonly once: boolean;
  /** Files and folders to read instead of the API server, or to validate. */
  readonly manifests: readonly string[];
  /** URL of the API server, before the kubeconfig's. */
  readonly master?: string;
  readonly configuration: {
    readonly metricsBindAddress: string;
    readonly clientConnection: { readonly kubeconfig: string };
  };
}
