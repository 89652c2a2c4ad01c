import { execa } from 'execa';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manPages } from '../../scripts/docs/man-pages.js';
import { clusterCommand } from '../../src/diagnostics/adapters/cli/cluster/cluster-command.js';
import type { CommandForm } from '../../src/adapters/cli/subcommand.js';
import { subcommands } from '../../src/diagnostics/adapters/cli/subcommands.js';
import { proxyFlags } from '../../src/bootstrap/configuration/flags.js';

const pages = new Map(manPages('1.2.3').map(({ path, text }) => [path, text]));
const [kubeproxy, plugin, proxy] = [
  'man1/kubeproxy.1',
  'man1/kubectl-kubeproxy.1',
  'man8/kube-proxy-ts.8',
].map((path) => pages.get(path)!) as [string, string, string];

/** The text of a page as it is read, without what is for groff. */
const read = (text: string): string =>
  text.replaceAll('\\-', '-').replaceAll('\\(dq', '"').replaceAll('\\&', '');

/** The part of a page that is about this command. */
function sectionOf(page: string, name: string): string {
  const section = read(page)
    .split(/^\.S[HS] /m)
    .find((one) => one.startsWith(`"${name} `));
  return section ?? '';
}

function expectCommand(page: string, { name, usage, description, options = [] }: CommandForm): void {
  const section = sectionOf(page, name);
  expect(section).toContain(`"${name} ${usage.replaceAll('\\', '\\e')}"`);
  expect(section).toContain(description);
  for (const option of options) {
    expect(section).toContain(`.B "${option.flags}"\n${option.description.replace(/\.$/, '')}`);
    for (const choice of option.argChoices ?? []) expect(section).toMatch(new RegExp(`[ :]${choice}[,. )]`));
  }
}

it('are those of the program, of the plugin for kubectl, and of the proxy', () => {
  expect([...pages.keys()]).toEqual(['man1/kubeproxy.1', 'man1/kubectl-kubeproxy.1', 'man8/kube-proxy-ts.8']);
  for (const text of pages.values())
    expect(read(text)).toMatch(/^\.TH [A-Z-]+ [18] "" "kube-proxy-ts 1\.2\.3"\n/);
});

const shown = (subcommands as readonly CommandForm[]).filter(({ isHidden }) => !isHidden);

it.each(shown.map((one) => [one.name, one] as const))('kubeproxy(1) has %s and its options', (_, one) => {
  expectCommand(kubeproxy, one);
});

it('kubeproxy(1) has nothing of what is for scripts', () => {
  expect(read(kubeproxy)).not.toContain('__complete');
});

it.each((clusterCommand.commands ?? []).map((one) => [one.name, one] as const))(
  'kubectl-kubeproxy(1) has %s and its options',
  (_, one) => expectCommand(plugin, one),
);

it('kubectl-kubeproxy(1) has the options of all commands', () => {
  for (const { flags, description } of [...clusterCommand.options!, ...clusterCommand.namedFlags!.options])
    expect(read(plugin)).toContain(`.B "${flags}"\n${description.replace(/\.$/, '')}`);
});

it('kube-proxy-ts(8) has each flag once', () => {
  for (const name of proxyFlags.keys())
    expect(read(proxy).match(new RegExp(`^\\.B "(-v, )?--${name} `, 'gm'))).toHaveLength(1);
});

it.each([...pages])('%s has only lines that groff understands', async (_, text) => {
  expect(text).toMatch(/^[\n -~]+$/);
  for (const line of text.trimEnd().split('\n')) {
    if (/^[.']/.test(line)) expect(line).toMatch(/^\.(TH|SH|SS|PP|TP|B)( |$)/);
    expect(line).not.toMatch(/\\(?![-e&]|\(dq|\[u[0-9A-F]{4,6}\])/);
    expect(line).not.toBe('');
  }
  const folder = await mkdtemp(join(tmpdir(), 'kubeproxy-man-'));
  try {
    await writeFile(join(folder, 'page'), text);
    // Where there is a man that tells.
    const { stderr, code } = await execa(
      'man',
      ['--warnings', '-E', 'UTF-8', '-l', '-Tutf8', '-Z', join(folder, 'page')],
      { reject: false, env: { MAN_KEEP_STDERR: '1' } },
    );
    if (code !== 'ENOENT') expect(stderr).toBe('');
  } finally {
    await rm(folder, { recursive: true });
  }
});
