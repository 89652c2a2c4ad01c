import { InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../../../../adapters/cli/usage-error.js';
import { COLOR_CHOICES, type Subcommand } from '../../../../adapters/cli/subcommand.js';
import { namespaceOptions, serviceNames, type NamespaceOptions } from './service-names.js';

/** The forms in which a command can print what it lists. `wide` is `text` with more columns. */
const OUTPUT_FORMATS = ['text', 'wide', 'json', 'yaml'] as const;

/** `name`: only for what lists objects, `service/web`. */
export type OutputFormat = (typeof OUTPUT_FORMATS)[number] | 'name';

/** The subcommand itself; the type of what it asks for follows from it. */
export function subcommand<Name extends string, Options extends object, Asked extends object>(
  one: Subcommand<Name, Options, Asked>,
): Subcommand<Name, Options, Asked> {
  return one;
}

/** `-o FORMAT`, for subcommands that list. */
const outputOption = new Option('-o, --output <format>', 'How to print it.')
  .choices(OUTPUT_FORMATS)
  .default('text');

/** `--color WHEN`. It counts for all that is printed, and no request has it. */
export const colorOption = new Option('--color <when>', 'Whether states and verdicts have colors.')
  .choices(COLOR_CHOICES)
  .default('auto');

/** How to print, for subcommands that tell something. */
export const outputOptions: readonly Option[] = [outputOption, colorOption];

/** The same for those that list objects. */
export const listOutputOptions: readonly Option[] = [
  new Option('-o, --output <format>', 'How to print it; name: as service/web or node/n1 alone.')
    .choices([...OUTPUT_FORMATS, 'name'])
    .default('text'),
  colorOption,
];

/** `-w`, for what may change. */
export const watchOption = new Option(
  '-w, --watch',
  'Go on, and print again what has changed, until Ctrl-C.',
);

/** The value of `watchOption`. */
export interface WatchOptions {
  readonly watch?: boolean;
}

/** The value of `outputOption`. */
export interface OutputOptions {
  readonly output: OutputFormat;
}

/** For options that count. @throws InvalidArgumentError */
export function positiveNumber(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('it must be a whole number from 1 to 9999.');
}

/** About the Services of these names, or about all if none is given. @param more options besides the namespace */
export function aboutServices<Name extends string>(name: Name, description: string, more: readonly Option[]) {
  return subcommand({
    name,
    description,
    usage: '[NAME...] [flags]',
    options: [...namespaceOptions, ...more],
    request: (operands, options: NamespaceOptions & OutputOptions & WatchOptions) =>
      servicesIn(name, operands, options),
  });
}

/** The Services that operands name, and how to print the answer about them. @throws UsageError */
export function servicesIn(
  name: string,
  operands: readonly string[],
  { namespace, output, watch }: NamespaceOptions & OutputOptions & WatchOptions,
) {
  if (namespace !== undefined && operands.length === 0)
    throw new UsageError(`${name} takes -n for the names that follow it, and got none`);
  return { services: serviceNames(name, operands, namespace), output, watch };
}
