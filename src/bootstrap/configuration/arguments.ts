import { Command, CommanderError, Option } from 'commander';
import { NO_TERMINAL, PLUGIN, type Reader } from '../../adapters/cli/reader.js';
import {
  COMMAND_GROUPS,
  type AnySubcommand,
  type ColorChoice,
  type CommandForm,
  type Request,
} from '../../adapters/cli/subcommand.js';
import { rejectOperands, UsageError } from '../../adapters/cli/usage-error.js';
import { nearestName } from '../../domain/validation/nearest-name.js';
import { EarlyExit } from './errors.js';
import { proxyFlags } from './flags.js';
import { ValueError } from './value-types.js';

export interface ParsedArguments {
  readonly request: Request;
  /** The values of the flags that were given, by name. */
  readonly flags: ReadonlyMap<string, unknown>;
  readonly color: ColorChoice;
}

/**
 * Reads the arguments after the program's name.
 * @param subcommands that may be among them; the plugin for kubectl has one, whose own commands it offers
 * @throws UsageError for unknown flags, malformed values and stray arguments
 * @throws EarlyExit with the usage for `--help`
 */
export function parseArguments(
  argv: readonly string[],
  reader: Reader = NO_TERMINAL,
  subcommands: readonly AnySubcommand[] = [],
): ParsedArguments {
  return new CommandLineProgram(reader, subcommands).parse(argv);
}

/** Whether these arguments name a subcommand, or request help, which lists them. The proxy alone needs none. */
export function needsSubcommands(argv: readonly string[], { program }: Reader): boolean {
  if (program === PLUGIN) return true;
  try {
    return attachValues(argv).some((word) => /^([^-]|-h$|--help$)/.test(word));
  } catch (error) {
    if (error instanceof UsageError) return false;
    throw error;
  }
}

/** One parse of one command line. */
class CommandLineProgram {
  private readonly flags = new Map<string, unknown>();
  private request: Request = { name: 'run' };
  private color: ColorChoice = 'auto';
  private output = '';
  private readonly program: Command;
  /** The one whose commands are those of the program. */
  private readonly plugin: AnySubcommand | undefined;
  /** The requested command, as far as it is known. */
  private asked: Command;

  constructor(
    private readonly reader: Reader,
    subcommands: readonly AnySubcommand[],
  ) {
    if (reader.program === PLUGIN) this.plugin = subcommands[0];
    const name = reader.program;
    this.program = this.described(
      new Command(name),
      'Without a command, runs the proxy of this node: it programs the Services of a Kubernetes cluster into the kernel, as kube-proxy does.',
    )
      .usage('[COMMAND] [flags]')
      .addHelpText(
        'after',
        `\nThe flags of the proxy: ${name} help flags\nAll nodes of a cluster: ${PLUGIN} --help`,
      )
      .action((operands: readonly string[]) => this.run(operands));
    this.asked = this.program;
    for (const option of flagOptions(this.flags)) this.program.addOption(option.hideHelp());
    for (const one of subcommands) this.add(one);
    this.addHelpTo(this.program, '[COMMAND|flags]');
  }

  parse(argv: readonly string[]): ParsedArguments {
    try {
      this.program.parse(attachValues(this.plugin ? [this.plugin.name, ...argv] : argv), { from: 'user' });
    } catch (error) {
      if (error instanceof UsageError) throw new UsageError(error.message, this.pathOf(this.asked));
      if (!(error instanceof CommanderError)) throw error;
      if (error.exitCode === 0) throw new EarlyExit(this.output);
      throw new UsageError(this.explained(error), this.pathOf(this.asked));
    }
    return { request: this.request, flags: this.flags, color: this.color };
  }

  private add(one: AnySubcommand): void {
    const command = this.command(this.program, one, (operands, options) => {
      const [name] = operands;
      if (one.commands && name !== undefined) throw new UsageError(unknownCommand(name, command));
      this.request = { name: one.name, ...one.request(operands, options) };
    }).helpGroup(one.group ?? COMMAND_GROUPS[0]);
    if (!one.commands)
      command.addHelpText(
        'after',
        `\nIt also accepts the flags of the proxy: ${this.reader.program} help flags`,
      );
    const { title, options: named = [] } = one.namedFlags ?? {};
    for (const option of named) command.addOption(option.hideHelp());
    if (title !== undefined)
      command.addHelpText('afterAll', () => {
        const text = `${title}: ${named.map(({ long }) => long).join(', ')}`;
        return `\n${command.createHelp().boxWrap(text, this.reader.width)}`;
      });
    for (const below of one.commands ?? [])
      this.command(command, below, (operands, options) => {
        const request = one.request([below.name, ...operands], { ...options, ...command.opts() });
        this.request = { name: one.name, ...request };
      });
    if (one.commands) this.addHelpTo(command, '[COMMAND]');
  }

  private command(
    parent: Command,
    { name, description, summary = description, usage, options = [], isHidden }: CommandForm,
    act: (operands: readonly string[], options: object) => void,
  ): Command {
    const command = this.described(parent.command(name, { hidden: isHidden ?? false }), description)
      .summary(summary)
      .usage(usage);
    for (const option of options) command.addOption(option);
    return command.action((operands: readonly string[], given: object) => {
      this.asked = command;
      const { color } = command.optsWithGlobals<{ readonly color?: ColorChoice }>();
      if (color) this.color = color;
      act(operands, given);
    });
  }

  private described(command: Command, description: string): Command {
    return command
      .description(description)
      .helpOption('-h, --help', 'Print this text.')
      .helpCommand(false)
      .argument('[arguments...]')
      .exitOverride((error) => {
        this.asked = command;
        throw error;
      })
      .configureHelp({
        showGlobalOptions: true,
        visibleArguments: () => [],
        subcommandTerm: (one) => one.name(),
        optionDescription: describeOption,
        commandUsage: (one) => `${this.pathOf(one)} ${one.usage()}`,
        styleTitle: (title) => (title === 'Global Options:' ? 'Of all these commands:' : title),
      })
      .configureOutput({
        writeOut: (part) => (this.output += part),
        writeErr: () => undefined,
        getOutHelpWidth: () => this.reader.width,
        getErrHelpWidth: () => this.reader.width,
      });
  }

  private addHelpTo(parent: Command, usage: string): void {
    const description =
      parent === this.program
        ? 'Show the help of a command, or of the flags of the proxy.'
        : 'Show the help of a command.';
    this.command(parent, { name: 'help', description, usage }, (operands) => {
      this.helpOf(operands, parent).outputHelp();
      throw new EarlyExit(this.output);
    }).helpGroup('Help:' satisfies (typeof COMMAND_GROUPS)[number]);
  }

  private helpOf([name, ...rest]: readonly string[], from: Command = this.program): Command {
    if (name === undefined) return from;
    if (from === this.program && name === 'flags') return this.helpOfFlags();
    const found = from.commands.find((one) => one.name() === name);
    if (!found) throw new UsageError(unknownCommand(name, from));
    return this.helpOf(rest, found);
  }

  private helpOfFlags(): Command {
    const flags = this.described(
      new Command(this.program.name()),
      'The flags of the proxy. With --config, flags that set fields of the file have no effect.',
    ).usage('[flags]');
    for (const option of flagOptions(new Map())) flags.addOption(option);
    return flags;
  }

  /** Without a command, the program takes none: an operand is a command that does not exist. */
  private run(operands: readonly string[]): void {
    const [name] = operands.filter((operand) => operand !== '');
    if (name !== undefined && /^[a-z-]+$/.test(name))
      throw new UsageError(unknownCommand(name, this.program));
    rejectOperands(operands);
  }

  /** How one calls this command. */
  private pathOf(command: Command): string {
    const names: string[] = [];
    for (let one: Command | null = command; one; one = one.parent) names.unshift(one.name());
    const path = names.join(' ');
    return this.plugin ? path.replace(`${PLUGIN} ${this.plugin.name}`, PLUGIN) : path;
  }

  private explained({ code, message }: CommanderError): string {
    const text = message.replace(/^error: /, '').replaceAll('\n', ' ');
    if (code !== 'commander.unknownOption') return text;
    const [, option = ''] = /^unknown option '([^'=]*)/.exec(text) ?? [];
    return `unknown flag: ${option}${meant(option, this.optionsKnown())}`;
  }

  private optionsKnown(): readonly string[] {
    const options: Option[] = [];
    for (let one: Command | null = this.asked; one; one = one.parent) options.push(...one.options);
    return options.flatMap(({ long }) => long ?? []);
  }
}

/** `How to print it: text, json (default text).` */
export function describeOption(option: Option): string {
  const { description, argChoices, defaultValue, defaultValueDescription = defaultValue } = option;
  const choices = argChoices ? `: ${argChoices.join(', ')}` : '';
  const normal = option.required && defaultValue !== undefined ? ` (default ${defaultValueDescription})` : '';
  return `${description.replace(/\.$/, '')}${choices}${normal}.`;
}

function unknownCommand(name: string, command: Command): string {
  const names = command.commands.map((one) => one.name());
  return `unknown command ${JSON.stringify(name)}${meant(name, names)}`;
}

function meant(name: string, names: readonly string[]): string {
  const nearest = nearestName(name, names);
  return nearest === undefined ? '' : `; did you mean ${nearest}?`;
}

/**
 * The options of all flags, in the order of `help flags`.
 * @param values takes the values of those that are given, by name
 */
export function flagOptions(values: Map<string, unknown>): readonly Option[] {
  return [...proxyFlags.values()].map(({ name, field: { type, flagDefault }, help, heading }) => {
    const normal = type.format(flagDefault);
    const isZero = ['', '[]', 'false', '0', '0s'].includes(normal);
    const value = type.bare ? `[${type.name}]` : `<${type.name}>`;
    const dashed = name.length === 1 ? `-${name}, --${name}` : `--${name}`;
    return new Option(`${dashed} ${value}`, `${help}${isZero ? '' : ` (default ${normal})`}`)
      .helpGroup(heading)
      .argParser((text: string) => {
        try {
          const parsed = type.fromFlag(text, values.get(name));
          if (parsed !== undefined) values.set(name, parsed);
        } catch (error) {
          if (!(error instanceof ValueError)) throw error;
          const argument = `invalid argument ${JSON.stringify(text)} for "--${name}" flag`;
          throw new UsageError(`${argument}: ${error.message}`);
        }
      });
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
    const flag = proxyFlags.get(name ?? '');
    if (!parts || !flag) attached.push(argument);
    else if (argument.includes('=') || parts[3]) attached.push(`--${name}=${parts[3]}`);
    else if (flag.field.type.bare) attached.push(`--${name}=true`);
    else if (index + 1 < argv.length) attached.push(`--${name}=${argv[++index]}`);
    else throw new UsageError(`flag needs an argument: --${name}`);
  }
  return attached;
}
