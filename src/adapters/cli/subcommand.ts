import type { Option } from 'commander';

/** How a command reads on the command line. */
export interface CommandForm<Name extends string = string> {
  readonly name: Name;
  /** One or two sentences for its `--help`. */
  readonly description: string;
  /** Its line in a list of commands; missing: the description. */
  readonly summary?: string;
  /** Arguments after the name, such as `NAMESPACE/NAME [flags]`. */
  readonly usage: string;
  /** Options of this command alone. */
  readonly options?: readonly Option[];
  /** It is for programs, and no help names it. */
  readonly isHidden?: true;
}

/** The headings of `--help`, under which subcommands stand. */
export const COMMAND_GROUPS = ['Query the proxy on this node:', 'Without a proxy:', 'Help:'] as const;

/** One subcommand of the program. It takes all flags of the program as well. */
export interface Subcommand<
  Name extends string,
  Options extends object,
  Asked extends object,
> extends CommandForm<Name> {
  /** Missing: the first. */
  readonly group?: (typeof COMMAND_GROUPS)[number];
  /** Commands below this one, which take its options, too. Their name is the first operand of `request`. */
  readonly commands?: readonly CommandForm[];
  /** Flags that all of them take as well; their `--help` only names them. */
  readonly namedFlags?: { readonly title: string; readonly options: readonly Option[] };
  /**
   * Requested names, besides the own name.
   * @param operands the arguments that are not options
   * @param options the values of `options`, by name in camel case
   * @throws UsageError
   */
  request(operands: readonly string[], options: Options): Asked;
}

/** A subcommand with any options. */
export interface AnySubcommand extends Omit<Subcommand<string, never, object>, 'request'> {
  request(operands: readonly string[], options: object): object;
}

/** The request of a command line: `run`, or the parsed arguments of a subcommand. */
export interface Request {
  readonly name: string;
  /** Files and folders, instead of those of `--manifests`. */
  readonly manifests?: readonly string[];
}

/** When colors are shown; `auto`: on a terminal, unless NO_COLOR is set. */
export const COLOR_CHOICES = ['auto', 'always', 'never'] as const;

export type ColorChoice = (typeof COLOR_CHOICES)[number];
