import { Option } from 'commander';
import { optionalService } from './operands.js';

/** The forms in which a command can print what it lists. `wide` is `text` with more columns. */
export const OUTPUT_FORMATS = ['text', 'wide', 'json', 'yaml'] as const;

export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** One subcommand of the program: how it reads on the command line. It takes all flags of the program as well. */
export interface Subcommand<Name extends string, Options extends object, Asked extends object> {
  readonly name: Name;
  /** One or two sentences for `--help`. */
  readonly description: string;
  /** What follows the name, such as `NAMESPACE/NAME [flags]`. */
  readonly usage: string;
  /** Options of this subcommand alone. */
  readonly options?: readonly Option[];
  /**
   * What is asked for, besides the name.
   * @param operands the arguments that are not options
   * @param options the values of `options`, by name in camel case
   * @throws UsageError
   */
  request(operands: readonly string[], options: Options): Asked;
}

/** The subcommand itself; the type of what it asks for follows from it. */
export function subcommand<Name extends string, Options extends object, Asked extends object>(
  one: Subcommand<Name, Options, Asked>,
): Subcommand<Name, Options, Asked> {
  return one;
}

/** `-o FORMAT`, for subcommands that list. */
export const outputOption = new Option('-o, --output <format>', 'How to print it.')
  .choices(OUTPUT_FORMATS)
  .default('text');

/** The value of `outputOption`. */
export interface OutputOptions {
  readonly output: OutputFormat;
}

/** About one Service, or about all if none is given. */
export function aboutService<Name extends string>(name: Name, description: string) {
  return subcommand({
    name,
    description,
    usage: '[NAMESPACE/NAME] [flags]',
    options: [outputOption],
    request: (operands, { output }: OutputOptions) => ({ service: optionalService(name, operands), output }),
  });
}

/** `-n NAMESPACE`, for subcommands that list Services. */
export const namespaceOption = new Option('-n, --namespace <namespace>', 'Only Services of this namespace.');
