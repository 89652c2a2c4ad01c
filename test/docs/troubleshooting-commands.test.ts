import { readFileSync } from 'node:fs';
import { NO_TERMINAL, PLUGIN } from '../../src/adapters/cli/reader.js';
import { parseCommand } from '../support/command-line.js';

/** Commands with arguments in the running text; test/kernel/troubleshooting.test.ts runs the examples. */
const commands = [
  ...readFileSync('docs/troubleshooting.md', 'utf8').matchAll(
    /`(kubeproxy|kubectl kubeproxy) ([a-z]+ [^`]+)`/g,
  ),
].map(([, program = '', words = '']) => ({ program, words }));

it('there are commands of both kinds', () => {
  expect(new Set(commands.map(({ program }) => program))).toEqual(new Set(['kubeproxy', PLUGIN]));
});

it.each(commands)('$program $words is a command with flags that exist', ({ program, words }) => {
  const named = words.replace('NAMESPACE/NAME', 'shop/web');
  parseCommand(named.split(' '), { hostname: () => 'node1' }, { ...NO_TERMINAL, program });
});
