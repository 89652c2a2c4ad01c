import { Command, CommanderError, Option } from 'commander';
import { EarlyExit } from '../errors.js';
import { UsageError } from '../../../adapters/cli/usage-error.js';
import type { Field } from '../schema/field.js';
import { refuseOperands } from '../../../adapters/cli/arguments/operands.js';
import { subcommands, type Request } from '../../../adapters/cli/arguments/subcommands.js';
import { shown, ValueError } from '../types/value-type.js';
import { flagFields, flagHelp } from './flags.js';

export interface ParsedArguments {
  readonly request: Request;
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
  let request: Request = { name: 'run' };
  let output = '';
  const program = new Command('kubeproxy')
    .description(
      'Programs the services of a Kubernetes cluster into the kernel of a node, as kube-proxy does.',
    )
    .usage('[COMMAND] [flags]')
    .helpOption('-h, --help', 'Print this text.')
    .helpCommand(false)
    .argument('[arguments...]')
    .exitOverride()
    .configureHelp({
      showGlobalOptions: true,
      sortOptions: true,
      visibleArguments: () => [],
      subcommandTerm: (one) => one.name(),
    })
    .configureOutput({ writeOut: (part) => (output += part), writeErr: () => undefined })
    .action((operands: readonly string[]) => refuseOperands(operands));
  for (const subcommand of subcommands) {
    const command = program
      .command(subcommand.name)
      .description(subcommand.description)
      .usage(subcommand.usage)
      .helpOption('-h, --help', 'Print this text.')
      .argument('[arguments...]')
      .action((operands: readonly string[], options: Readonly<Record<string, unknown>>) => {
        const { name } = subcommand;
        request = { name, ...subcommand.request(operands, options as never) } as Request;
      });
    for (const option of subcommand.options ?? []) command.addOption(option);
  }
  for (const [name, field] of flagFields) program.addOption(optionOf(name, field, flags));

  try {
    program.parse(attachValues(argv), { from: 'user' });
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(error.message, program.helpInformation());
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) throw new EarlyExit(output);
    throw new UsageError(
      error.message
        .replace(/^error: /, '')
        .replaceAll('\n', ' ')
        .replace(/^unknown option '(.*)'/, 'unknown flag: $1'),
      program.helpInformation(),
    );
  }
  return { request, flags };
}

function optionOf(name: string, field: Field<unknown>, flags: Map<string, unknown>): Option {
  const { type } = field;
  const normal = shown(type, field.flagDefault);
  const isZero = ['', '[]', 'false', '0', '0s'].includes(normal);
  const value = type.bare ? `[${type.name}]` : `<${type.name}>`;
  const dashed = name.length === 1 ? `-${name}, --${name}` : `--${name}`;
  return new Option(
    `${dashed} ${value}`,
    `${flagHelp(name)}${isZero ? '' : ` (default ${normal})`}`,
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
