import { Option } from 'commander';

/** The forms in which a command can print what it lists. `wide` is `text` with more columns. */
export const OUTPUT_FORMATS = ['text', 'wide', 'json', 'yaml'] as const;

export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** One subcommand of the program: how it reads on the command line. It takes all flags of the program as well. */
export interface Subcommand<Request extends { readonly name: string }> {
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
