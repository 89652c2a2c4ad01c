import { Option } from 'commander';
import type { TracedRules } from '../../../application/trace/trace-packets.js';
import type { RowFilter } from '../../../application/status/service-row.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { TraceQuery } from '../../../domain/trace/query.js';
import type { TrafficQuery } from '../../../domain/traffic/traffic-report.js';
import type { ClusterAccess, ClusterQuestion } from './cluster-question.js';

/** The forms in which a command can print what it lists. `wide` is `text` with more columns. */
export const OUTPUT_FORMATS = ['text', 'wide', 'json', 'yaml'] as const;

export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** Which traffic to show, and how. */
export interface TopRequest {
  readonly query: Omit<TrafficQuery, 'limit'>;
  readonly intervalMilliseconds: number;
  readonly output: OutputFormat;
}

/** What the program is asked to do; `run` when no subcommand is named. */
export type Request =
  | { readonly name: 'run' }
  /** The rules, and either one query or the file of many; `-` is standard input. */
  | ({
      readonly name: 'trace';
      readonly rules: TracedRules;
      readonly output: OutputFormat;
    } & ({ readonly query: TraceQuery } | { readonly queries: string }))
  | { readonly name: 'status'; readonly output: OutputFormat }
  | (RowFilter & { readonly name: 'services'; readonly output: OutputFormat })
  /** A Service as `namespace/name`, an address, or a port. */
  | { readonly name: 'explain'; readonly subject: string; readonly output: OutputFormat }
  /** The Service, as `namespace/name`; all, if none is given. */
  | { readonly name: 'history'; readonly service?: string; readonly output: OutputFormat }
  | ({ readonly name: 'top' } & TopRequest)
  /** Only this family, if one is given; only what would change, if `diff`. */
  | { readonly name: 'plan'; readonly family?: IpFamily; readonly diff: boolean }
  /** Of the Service `namespace/name` alone, if one is given. */
  | { readonly name: 'diff'; readonly service?: string; readonly output: OutputFormat }
  | {
      readonly name: 'cluster';
      readonly question: ClusterQuestion;
      readonly access: ClusterAccess;
      readonly output: OutputFormat;
    }
  /** The files and folders to check. */
  | { readonly name: 'validate'; readonly paths: readonly string[] };

/** One subcommand of the program: how it reads on the command line. It takes all flags of the program as well. */
export interface Subcommand {
  readonly name: Request['name'];
  /** One or two sentences for `--help`. */
  readonly description: string;
  /** What follows the name, such as `NAMESPACE/NAME [flags]`. */
  readonly usage: string;
  /** Options of this subcommand alone. */
  readonly options?: readonly Option[];
  /**
   * What is asked for.
   * @param operands the arguments that are not options
   * @param options the values of `options`, by name in camel case
   * @throws UsageError
   */
  request(operands: readonly string[], options: Readonly<Record<string, unknown>>): Request;
}

/** `-o FORMAT`, for subcommands that list. */
export function outputOption(): Option {
  return new Option('-o, --output <format>', 'How to print it.').choices(OUTPUT_FORMATS).default('text');
}

/** The format asked for by `outputOption`. */
export function outputOf({ output }: Readonly<Record<string, unknown>>): OutputFormat {
  return output as OutputFormat;
}
