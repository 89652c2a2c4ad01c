import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Option } from 'commander';
import { PLUGIN } from '../../src/adapters/cli/reader.js';
import { flagOptions } from '../../src/bootstrap/configuration/arguments.js';
import {
  CLUSTER_QUERIES,
  clusterCommand,
} from '../../src/diagnostics/adapters/cli/cluster/cluster-command.js';
import { subcommands } from '../../src/diagnostics/adapters/cli/subcommands.js';

const page = readFileSync(fileURLToPath(new URL('../../docs/commands.md', import.meta.url)), 'utf8');

/** Those that ask nobody are described with the program's other commands. */
const ASKING_NOBODY = ['plan', 'compare', 'validate', 'completion', '__complete'];

it('docs/commands.md has a section and a line with exit codes for every command that asks', () => {
  const asking = subcommands.map(({ name }) => name).filter((name) => !ASKING_NOBODY.includes(name));
  const written = [...page.matchAll(/^## `(.+)`$/gm)].map(([, heading]) => heading);
  expect(written).toEqual([...asking.map((name) => `kubeproxy ${name}`), 'kubectl kubeproxy']);
  for (const heading of written)
    expect(page).toMatch(
      new RegExp(`^\\| \\[\`.*\\]\\(#${heading!.replace(' ', '-')}\\) \\| .* \\| .* \\|$`, 'm'),
    );
});

it('docs/commands.md has a line with the reasons for exit code 1 for every command of the plugin', () => {
  const section = page.slice(page.indexOf('## `kubectl kubeproxy`'));
  const rows = [...section.matchAll(/^\| `([\w-]+)[^`]*` \| .+ \| .+ \|$/gm)].map(([, name]) => name);
  expect(rows.sort()).toEqual([...CLUSTER_QUERIES].sort());
});

describe('flags', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const documents = readdirSync(`${root}/docs`, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.md'),
  );
  const pages = ['README.md', ...documents.map((file) => `docs/${file}`)].map(
    (path) => [path, readFileSync(`${root}/${path}`, 'utf8')] as const,
  );

  const namesOf = (options: readonly Option[] = []): readonly string[] => options.map(({ long }) => long!);
  const ofProxy = ['--help', '--version', '--color', ...namesOf(flagOptions(new Map()))];
  const ofNode = new Map(subcommands.map(({ name, options }) => [name as string, namesOf(options)]));
  const ofPlugin = new Map(
    clusterCommand.commands!.map(({ name, options }) => [
      name,
      [
        ...namesOf(options),
        ...namesOf(clusterCommand.options),
        ...namesOf(clusterCommand.namedFlags?.options),
      ],
    ]),
  );
  const all = new Set([...ofProxy, ...[...ofNode.values(), ...ofPlugin.values()].flat()]);

  it.each(pages)('%s names flags that each of its commands has', (_, text) => {
    const lines = text.matchAll(/(?<![\w/-])(kubectl kubeproxy|kubeproxy) ([^`\n|;&]*)/g);
    for (const [line, program, words = ''] of lines) {
      const [name = ''] = words.split(' ');
      const known = (program === PLUGIN ? ofPlugin : ofNode).get(name) ?? [];
      for (const flag of words.match(/(?<!\S)--[a-z][a-z-]*/g) ?? [])
        if (!ofProxy.includes(flag) && !known.includes(flag)) throw new Error(`${flag} in: ${line}`);
    }
  });

  it.each([
    'docs/configuration/usage.md',
    'docs/commands.md',
    'docs/observing.md',
    'docs/behavior/recovery.md',
  ])('%s names no flag that the program does not have', (path) => {
    const text = pages.find(([page]) => page === path)![1];
    const named = [...text.matchAll(/`(--[a-z][a-z-]*)/g)].map(([, flag]) => flag!);
    expect(named.filter((flag) => !all.has(flag))).toEqual([]);
  });
});
