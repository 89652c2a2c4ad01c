import { Command, CommanderError, Option } from 'commander';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { EarlyExit, UsageError } from '../errors.js';
import type { Field } from '../schema/field.js';
import { flagFields, flagHelp } from './flags.js';
import { ValueError } from '../types/value-type.js';

/** Serve, print what would be written, ask the running proxy about a Service, or check manifests. */
export type CommandName = 'run' | 'plan' | 'explain' | 'validate';

const FAMILIES = { ipv4: 'IPv4', ipv6: 'IPv6' } as const;

export interface ParsedArguments {
  readonly command: CommandName;
  /** For `explain`: the Service, as `namespace/name`. */
  readonly service?: string;
  /** For `plan`: the only family that is asked for. */
  readonly family?: IpFamily;
  /** For `validate`: the files and folders to check. */
  readonly paths?: readonly string[];
  /** The values of the flags that were given, by name. */
  readonly flags: ReadonlyMap<string, unknown>;
}

/**
 * Reads the arguments after the program's name.
 * @throws UsageError for unknown flags, malformed values and stray arguments
 * @throws EarlyExit with the usage for `--help`
 */
export function parseArguments(argv: readonly string[]): ParsedArguments {
  const flags = new Map<string, unknown>();
  let command: CommandName = 'run';
  let service: string | undefined;
  let family: IpFamily | undefined;
  let paths: readonly string[] | undefined;
  let output = '';
  const program = new Command('kubeproxy')
    .description(
      'Programs the services of a Kubernetes cluster into the kernel of a node, as kube-proxy does.',
    )
    .usage('[plan | explain NAMESPACE/NAME | validate PATH...] [flags]')
    .helpOption('-h, --help', 'Print this text.')
    .helpCommand(false)
    .argument('[arguments...]')
    .exitOverride()
    .configureHelp({ showGlobalOptions: true, sortOptions: true, visibleArguments: () => [] })
    .configureOutput({ writeOut: (part) => (output += part), writeErr: () => undefined })
    .action((stray: readonly string[]) => refuseArguments(stray));
  program
    .command('plan')
    .description(
      'Print the rules that would be written, without changing anything. Takes the same flags, and --family.',
    )
    .usage('[flags]')
    .helpOption('-h, --help', 'Print this text.')
    .addOption(
      new Option(
        '--family <family>',
        'Print the rules of this IP family only, so that one tool can read them.',
      ).choices(Object.keys(FAMILIES)),
    )
    .argument('[arguments...]')
    .action((stray: readonly string[], options: { readonly family?: keyof typeof FAMILIES }) => {
      refuseArguments(stray);
      command = 'plan';
      family = options.family && FAMILIES[options.family];
    });
  program
    .command('explain')
    .description('Show how the proxy running on this node handles a Service, and why.')
    .usage('NAMESPACE/NAME [flags]')
    .helpOption('-h, --help', 'Print this text.')
    .argument('[arguments...]')
    .action((operands: readonly string[]) => {
      command = 'explain';
      service = serviceOperand(operands);
    });
  program
    .command('validate')
    .description(
      'Report what in these manifests is invalid, by file, line and field, without changing anything.',
    )
    .usage('PATH... [flags]')
    .helpOption('-h, --help', 'Print this text.')
    .argument('[arguments...]')
    .action((operands: readonly string[]) => {
      command = 'validate';
      paths = pathOperands(operands);
    });
  for (const [name, field] of flagFields) program.addOption(optionOf(name, field, flags));

  try {
    program.parse(attachValues(argv), { from: 'user' });
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(error.message, program.helpInformation());
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) throw new EarlyExit(output);
    throw new UsageError(
      error.message.replace(/^error: /, '').replace(/^unknown option '(.*)'/, 'unknown flag: $1'),
      program.helpInformation(),
    );
  }
  return {
    command,
    flags,
    ...(service !== undefined && { service }),
    ...(family && { family }),
    ...(paths && { paths }),
  };
}

function optionOf(name: string, field: Field<unknown>, flags: Map<string, unknown>): Option {
  const { type } = field;
  const shown = type.format(field.flagDefault);
  const isDefault = ['', '[]', 'false', '0', '0s'].includes(shown);
  const value = type.bare ? `[${type.name}]` : `<${type.name}>`;
  const dashed = name.length === 1 ? `-${name}, --${name}` : `--${name}`;
  return new Option(
    `${dashed} ${value}`,
    `${flagHelp(name)}${isDefault ? '' : ` (default ${shown})`}`,
  ).argParser((text: string) => {
    try {
      const parsed = type.fromFlag(text, flags.get(name));
      if (parsed !== undefined) flags.set(name, parsed);
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      throw new UsageError(`invalid argument ${JSON.stringify(text)} for "--${name}" flag: ${error.message}`);
    }
  });
}

function serviceOperand(operands: readonly string[]): string {
  const [service = ''] = operands;
  if (operands.length === 1 && /^[a-z0-9-]+\/[a-z0-9.-]+$/.test(service)) return service;
  throw new UsageError(`explain takes one Service as NAMESPACE/NAME, got [${operands.join(' ')}]`);
}

function pathOperands(operands: readonly string[]): readonly string[] {
  if (operands.length === 0) throw new UsageError('validate takes the files and folders to check, got none');
  if (operands.includes(''))
    throw new UsageError('validate got an empty path; give existing files or folders');
  return operands;
}

function refuseArguments(stray: readonly string[]): void {
  if (stray.some((argument) => argument !== '')) {
    throw new UsageError(`"kube-proxy" does not take any arguments, got [${stray.join(' ')}]`);
  }
}

/**
 * Writes every flag as `--name=value`, as Kubernetes reads them: `_` in a name is `-`, a boolean flag never takes the
 * argument that follows it, any other flag always does.
 */
function attachValues(argv: readonly string[]): readonly string[] {
  const attached: string[] = [];
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index]!;
    if (argument === '--') return [...attached, ...argv.slice(index)];
    const parts = /^(?:--([^=]+)|-(v))(?:=?(.*))$/s.exec(argument);
    const name = (parts?.[1] ?? parts?.[2])?.replaceAll('_', '-');
    const field = name === undefined ? undefined : flagFields.get(name);
    if (!parts || !field) attached.push(argument);
    else if (argument.includes('=') || parts[3]) attached.push(`--${name}=${parts[3]}`);
    else if (field.type.bare) attached.push(`--${name}=true`);
    else if (index + 1 < argv.length) attached.push(`--${name}=${argv[++index]}`);
    else throw new UsageError(`flag needs an argument: --${name}`);
  }
  return attached;
}
