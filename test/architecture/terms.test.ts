import { execa } from 'execa';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../', import.meta.url));

const findTerms = async (files: Readonly<Record<string, string>>): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'kubeproxy-terms-'));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const { stdout } = await execa('node_modules/.bin/textlint', ['--format', 'unix', join(folder, '*')], {
      cwd: repository,
      reject: false,
    });
    return stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
};

describe('the list of terms that are not used', () => {
  it('finds a term in comments, strings, names and Markdown, and prints the replacement', async () => {
    const stdout = await findTerms({
      'planted.ts': `// The kernel refuses it.\nexport const goOn = 'the endpoint steps aside';\n`,
      'planted.md': '# Notes\n\nIt is mended at once, in mode ipvs.\n',
      'planted.yaml': '# for everybody\na: 1\n',
      'clean.ts': `// The kernel rejects it immediately, in IPVS mode.\nexport const proceed = 'connection refused';\n`,
    });
    const found = stdout
      .split('\n')
      .flatMap((line) => /([^/]+): (\w[\w ]*) => (.*) \[Error/.exec(line)?.slice(1, 4).join(' ') ?? []);
    expect(found.toSorted()).toEqual(
      [
        'planted.md:3:7 mended fix',
        'planted.md:3:14 at once immediately, or at the same time',
        "planted.md:3:26 mode ipvs in nftables mode (the mode's name comes first)",
        'planted.ts:1:15 refuses reject, or rejection',
        'planted.ts:2:14 goOn continues',
        'planted.ts:2:41 aside ejected, or eject',
        'planted.yaml:1:7 everybody all clients, or all',
      ].toSorted(),
    );
  }, 60_000);
});
