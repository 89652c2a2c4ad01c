import type { Option } from 'commander';
import type { CommandForm } from '../../../../adapters/cli/subcommand.js';

/** What may stand in a place of a command line. */
interface Candidates {
  readonly words: readonly string[];
  /** A name of a Service may, too. */
  readonly takesServices: boolean;
}

const SERVICES: Candidates = { words: [], takesServices: true };

/**
 * What may stand in the place of the last word, as far as that is written.
 * @param flags the names of the flags of the proxy, which may stand anywhere
 */
export function candidates(
  written: readonly string[],
  commands: readonly CommandForm[],
  flags: readonly string[],
): Candidates {
  const current = written.at(-1) ?? '';
  const before = written.slice(0, -1);
  const command = firstOf(commands, before);
  const options = command?.options ?? [];
  const asked = options.find((option) => isOf(option, before.at(-1)));
  if (asked?.required && asked.description.includes('Service as NAME')) return SERVICES;
  if (asked?.required) return starting(current, asked.argChoices ?? []);
  if (current.startsWith('-'))
    return starting(current, [...options.flatMap(({ long }) => long ?? []), ...flags, '--help']);
  if (!command) return starting(current, namesOf(commands));
  const { usage } = command;
  if (usage.includes('NAME')) return SERVICES;
  return starting(current, /^[a-z]+(\|[a-z]+)+$/.test(usage) ? usage.split('|') : []);
}

function starting(current: string, words: readonly string[]): Candidates {
  return { words: words.filter((word) => word.startsWith(current)), takesServices: false };
}

/** The command that comes first in these words. */
function firstOf(commands: readonly CommandForm[], words: readonly string[]): CommandForm | undefined {
  const word = words.find((one) => commands.some(({ name }) => name === one));
  return commands.find(({ name }) => name === word);
}

function namesOf(commands: readonly CommandForm[]): readonly string[] {
  return commands.filter(({ isHidden }) => !isHidden).map(({ name }) => name);
}

function isOf({ long, short }: Option, word: string | undefined): boolean {
  return word !== undefined && (word === long || word === short);
}
