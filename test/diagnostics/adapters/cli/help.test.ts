import type { Option } from 'commander';
import { grouped } from '../../../../src/domain/model/maps.js';
import { completeCommandLine } from '../../../../src/bootstrap/configuration/command-line.js';
import { EarlyExit } from '../../../../src/bootstrap/configuration/errors.js';
import { clusterCommand } from '../../../../src/diagnostics/adapters/cli/cluster/cluster-command.js';
import { subcommands, subcommandsOf } from '../../../../src/diagnostics/adapters/cli/subcommands.js';

const shown = subcommands.filter((one) => !('isHidden' in one));

/** The help of a command, or that of a program, on a terminal of 80 columns. */
function helpOf(name: string, program = 'kubeproxy'): readonly string[] {
  try {
    completeCommandLine(
      [...(name === '' ? [] : [name]), '--help'],
      {},
      { program, width: 80 },
      subcommandsOf(program),
    );
  } catch (error) {
    if (error instanceof EarlyExit) return error.output.trimEnd().split('\n');
    throw error;
  }
  throw new Error(`${name} --help did not end early`);
}

it.each(shown.map(({ name }) => name))('the help of %s fits on a screen of 80 columns', (name) => {
  const lines = helpOf(name);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines.length).toBeLessThanOrEqual(24);
});

it.each(['', ...clusterCommand.commands!.map(({ name }) => name)])(
  'the help of kubectl kubeproxy %s fits on a screen of 80 columns',
  (name) => {
    const lines = helpOf(name, 'kubectl kubeproxy');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.length).toBeLessThanOrEqual(36);
  },
);

it('the help of the program has a line for each command', () => {
  const lines = helpOf('');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines.length).toBeLessThanOrEqual(31);
  for (const { name } of shown) expect(lines.join('\n')).toMatch(new RegExp(`^  ${name} +\\S.*\\.$`, 'm'));
});

/** A flag of a command as people read it. */
interface Flag {
  readonly command: string;
  /** Its value: `<duration>`; empty for a switch, also one that may have a value. */
  readonly value: string;
}

const forms = [...shown, ...clusterCommand.commands!];

/** The flags of all commands, on a node and of the plugin, by name. */
const flags = grouped(
  forms.flatMap(({ name, options = [] }) =>
    (options as readonly Option[]).map(({ long, flags: text }) => ({
      long: long!,
      command: name,
      value: /<.*>/.exec(text)?.[0] ?? '',
    })),
  ),
  ({ long }) => long,
);

it('a flag has one meaning in all commands: the same kind of value', () => {
  const different = [...flags].flatMap(([name, uses]: [string, readonly Flag[]]) =>
    new Set(uses.map(({ value }) => value)).size > 1
      ? `${name}: ${uses.map(({ command, value }) => `${command} ${value}`).join(', ')}`
      : [],
  );
  expect(different).toEqual([]);
});
