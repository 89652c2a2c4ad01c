import { Option } from 'commander';
import { UsageError } from '../../../adapters/cli/usage-error.js';
import type { Field } from '../schema/field.js';
import { shown, ValueError } from '../types/value-type.js';
import { groupOf, groupOrder } from './flag-groups.js';
import { flagFields, flagHelp } from './flags.js';

const SORTED = Array.from(flagFields)
  .map(([name, field]) => ({ name, field, group: groupOrder(name) }))
  .sort((one, other) => one.group - other.group);

/**
 * The options of all flags, in the order of `help flags`.
 * @param flags takes the values of those that are given, by name
 */
export function flagOptions(flags: Map<string, unknown>): readonly Option[] {
  return SORTED.map(({ name, field }) => optionOf(name, field, flags));
}

function optionOf(name: string, field: Field<unknown>, flags: Map<string, unknown>): Option {
  const { type } = field;
  const normal = shown(type, field.flagDefault);
  const isZero = ['', '[]', 'false', '0', '0s'].includes(normal);
  const value = type.bare ? `[${type.name}]` : `<${type.name}>`;
  const dashed = name.length === 1 ? `-${name}, --${name}` : `--${name}`;
  return new Option(`${dashed} ${value}`, `${flagHelp(name)}${isZero ? '' : ` (default ${normal})`}`)
    .helpGroup(groupOf(name) ?? 'Others:')
    .argParser((text: string) => {
      try {
        const parsed = type.fromFlag(text, flags.get(name));
        if (parsed !== undefined) flags.set(name, parsed);
      } catch (error) {
        if (!(error instanceof ValueError)) throw error;
        throw new UsageError(
          `invalid argument ${JSON.stringify(text)} for "--${name}" flag: ${error.message}`,
        );
      }
    });
}

/**
 * Writes every flag as `--name=value`, as Kubernetes reads them: `_` in a name is `-`, a boolean flag never takes the
 * argument that follows it, any other flag always does.
 */
export function attachValues(argv: readonly string[]): readonly string[] {
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
