/** Options, names of Services and requests that several commands share. */

import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../../application/words.js';
import { UsageError } from '../../../adapters/cli/usage-error.js';
import { COLOR_CHOICES, type Subcommand } from '../../../adapters/cli/subcommand.js';
import { KNOWN_DIFFERENCES } from '../../domain/compare/known-differences.js';

/** The forms in which a command can print what it lists. `wide` is `text` with more columns. */
const OUTPUT_FORMATS = ['text', 'wide', 'json', 'yaml'] as const;

/** `name`: only for what lists objects, `service/web`. */
export type OutputFormat = (typeof OUTPUT_FORMATS)[number] | 'name';

/** The subcommand itself, with the type of its request. */
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
export const colorOption = new Option('--color <when>', 'Colors.').choices(COLOR_CHOICES).default('auto');

/** How to print, for subcommands that print an answer. */
export const outputOptions: readonly Option[] = [outputOption, colorOption];

/** The same for those that list objects. */
export const listOutputOptions: readonly Option[] = [
  new Option('-o, --output <format>', 'How to print it.')
    .choices([...OUTPUT_FORMATS, 'name'])
    .default('text'),
  colorOption,
];

/** `-w`, for what may change. */
export const watchOption = new Option('-w, --watch', 'Continue, and print changes, until Ctrl-C.');

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

/**
 * For options that are durations: checks them, and keeps their text, which the plugin passes on to nodes.
 * @param shortest included, as is `longest`
 * @throws InvalidArgumentError
 */
export function durationBetween(shortest: string, longest: string): (text: string) => string {
  const [least, most] = [parseDuration(shortest)!, parseDuration(longest)!];
  return (text) => {
    const milliseconds = parseDuration(text);
    if (milliseconds !== undefined && milliseconds >= least && milliseconds <= most) return text;
    throw new InvalidArgumentError(
      `it must be a duration from ${shortest} to ${longest}, such as 30s or 5m.`,
    );
  };
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

/** A Service or one of its ports, by name. */
export interface ServiceName {
  /** `NAMESPACE/NAME`, or `NAME` for that of every namespace. */
  readonly service: string;
  /** The name of a port of it. */
  readonly port?: string;
}

/** The forms of a name, for messages. */
const NAME_FORMS = 'NAME or NAMESPACE/NAME, with :PORT for one port';

const FORM = /^(?:([a-z0-9-]+)\/)?([a-z0-9.-]+)(?::([a-z0-9-]+))?$/;

/** The kind before a name, as `-o name` prints it and kubectl takes it. A namespace of such a name needs -n. */
const SERVICE_KIND = /^(?:service|services|svc)\//;
const NODE_KIND = /^(?:node|nodes|no)\//;

/** The name of a node, with or without its kind: `node/n1`. */
export function nodeName(text: string): string {
  return text.replace(NODE_KIND, '');
}

/** `-n NAMESPACE` and `-A`, for commands about Services. */
export const namespaceOptions: readonly Option[] = [
  new Option('-n, --namespace <namespace>', 'Only Services of this namespace.'),
  new Option('-A, --all-namespaces', 'Services of all namespaces, as without -n.').conflicts('namespace'),
];

/** The values of `namespaceOptions`. */
export interface NamespaceOptions {
  readonly namespace?: string;
}

/** The name in this form, with or without its kind, in that namespace if it has none itself. Undefined if it has no such form. */
export function serviceName(text: string, namespace?: string): ServiceName | undefined {
  const [, given = namespace, name, port] = FORM.exec(text.replace(SERVICE_KIND, '')) ?? [];
  if (name === undefined) return undefined;
  return { service: given === undefined ? name : `${given}/${name}`, ...(port !== undefined && { port }) };
}

/** Characters of names: a server takes 16 KiB of headers. */
const LONGEST_NAMES = 8_000;

/** The names in these operands. @throws UsageError that names the command and the first that is none */
export function serviceNames(
  command: string,
  operands: readonly string[],
  namespace?: string,
): readonly ServiceName[] {
  if (operands.join('&name=').length > LONGEST_NAMES)
    throw new UsageError(
      `${command} takes at most ${LONGEST_NAMES} characters of names; leave the names out`,
    );
  return operands.map((operand) => {
    const name = serviceName(operand, namespace);
    if (name) return name;
    throw new UsageError(`${command} takes names as ${NAME_FORMS}, got ${JSON.stringify(operand)}`);
  });
}

/** A name in the form in which it is read. */
export function nameText({ service, port }: ServiceName): string {
  return port === undefined ? service : `${service}:${port}`;
}

const KNOWN = KNOWN_DIFFERENCES.map(({ name }) => name);

/** `--expect NAMES`, for commands that compare. */
export function expectOption(description: string): Option {
  return new Option('--expect <names>', description).argParser(
    (names: string, former: readonly string[] = []) => [...former, ...names.split(',')],
  );
}

/** @throws UsageError */
export function refuseUnknownDifferences(names: readonly string[]): void {
  for (const name of names)
    if (!KNOWN.includes(name))
      throw new UsageError(
        `there is no known difference ${JSON.stringify(name)}; there are ${KNOWN.join(', ')}`,
      );
}

/** The request that a subcommand makes of its arguments. */
export type RequestOf<One> =
  One extends Subcommand<infer Name, never, infer Request> ? { readonly name: Name } & Request : never;

/** A command line with this subcommand, as far as commands read it. */
export interface Invocation<One> {
  readonly request: RequestOf<One>;
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
