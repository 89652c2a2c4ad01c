import { cluster } from '../arguments/cluster.js';
import { PLUGIN } from '../../../../adapters/cli/reader.js';
import { complete, completion } from '../arguments/completion.js';
import { compare } from '../arguments/compare.js';
import { diff } from '../arguments/diff.js';
import { dump } from '../arguments/dump.js';
import { explain } from '../arguments/explain.js';
import { history } from '../arguments/history.js';
import { plan } from '../arguments/plan.js';
import { services } from '../arguments/services.js';
import { status } from '../arguments/status.js';
import type { AnySubcommand, Subcommand } from '../../../../adapters/cli/subcommand.js';
import { top } from '../arguments/top.js';
import { trace } from '../arguments/trace.js';
import { version } from '../arguments/version.js';
import { validate } from '../arguments/validate.js';

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
  plan,
  compare,
  validate,
  completion,
  complete,
] as const;

/** Those of the program with this name: the plugin for kubectl has one, whose own commands it offers. */
export function subcommandsOf(program: string): readonly AnySubcommand[] {
  return (program === PLUGIN ? [cluster] : subcommands) as readonly AnySubcommand[];
}

type RequestOf<One> =
  One extends Subcommand<infer Name, never, infer Asked> ? { readonly name: Name } & Asked : never;

/** What a subcommand is asked to do. */
export type Request = RequestOf<(typeof subcommands)[number] | typeof cluster>;

/** What the subcommand of this name is asked to do. */
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
    /** Empty: not configured. */
    readonly mode: string;
    readonly clientConnection: { readonly kubeconfig: string };
  };
}
