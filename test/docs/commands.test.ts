import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CLUSTER_QUERIES } from '../../src/diagnostics/adapters/cli/cluster/cluster-command.js';
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
  const rows = [...section.matchAll(/^\| `(\w+)[^`]*` \| .+ \| .+ \|$/gm)].map(([, name]) => name);
  expect(rows.sort()).toEqual([...CLUSTER_QUERIES].sort());
});
