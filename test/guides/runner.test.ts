import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { looseCommands, stepsOf } from './runner/guide.js';
import { GuideFailure, GuideShell, type GuideShellOptions } from './runner/guide-shell.js';
import { shows } from './runner/shows.js';
import { knowing } from './runner/stand-ins.js';
import { until } from '../support/until.js';

const page = `# Title
\`\`\`sh
name=world   # a remark
cat <<END |
hello $name
END
  tr h H

for one in 1 2; do
  echo $one
done
\`\`\`

\`\`\`text
1
…
\`\`\`

\`\`\`console
never run
\`\`\`

## And back
\`\`\`sh
echo "$name" \\
  again
\`\`\`

Some words.

\`\`\`text
not its output
\`\`\`
`;

/** Gone, or a zombie that nobody has waited for. */
const hasEnded = (pid: number): Promise<boolean> =>
  readFile(`/proc/${pid}/stat`, 'utf8').then(
    (text) => text.includes(') Z '),
    () => true,
  );

describe('the commands of a page', () => {
  const steps = stepsOf(page, 'a.md');

  it('are those of its shell blocks, with their places and sections', () => {
    expect(steps.map(({ place, section }) => `${place} ${section}`)).toEqual([
      'a.md:3 Title',
      'a.md:4 Title',
      'a.md:9 Title',
      'a.md:25 And back',
    ]);
    expect(steps[1]!.command).toBe('cat <<END |\nhello $name\nEND\n  tr h H');
  });

  it('have the output that a text block shows right after them', () => {
    expect(steps.map(({ shown }) => shown)).toEqual([undefined, undefined, '1\n…', undefined]);
  });

  it('that would go on after a failure are found, unless they cannot fail', () => {
    const blocks = [
      'a=1   # no command',
      'export B="$a/b"',
      'f() { false; }',
      'g &&',
      '  h',
      'c=$(i)',
      'j',
      'k',
    ];
    const loose = looseCommands(`\`\`\`sh\n${blocks.join('\n')}\n\`\`\`\n\n\`\`\`sh\nalone\n\`\`\`\n`);
    expect(loose).toEqual(['5: g &&\n  h', '7: c=$(i)', '8: j']);
  });

  it('a block without an end is an error', () => {
    expect(() => stepsOf('```sh\ntrue\n', 'a.md')).toThrow('the block of line 1 does not end');
  });
});

describe('what a page shows', () => {
  it.each([
    ['a\n…\nd', 'a\nb\nc\nd\n', true],
    ['a\n…\nd', 'a\nd', true],
    ['…\nd', 'a\nb\nd', true],
    ['…', 'a\nb', true],
    ['a\n…', 'a', true],
    ['at … (1)', 'at noon (1)  \n', true],
    ['at … (1)', 'at noon\n(1)', false],
    ['a  b   …', 'a b cd', true],
    ['a.c', 'abc', false],
    ['a', 'a\nb', false],
  ])('%j for %j: %j', (shown, text, same) => expect(shows(shown, text)).toBe(same));
});

describe('a reader’s shell', () => {
  let folder: string;
  let shell: GuideShell;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guide-'));
  });
  afterEach(async () => {
    await shell.close();
    await rm(folder, { recursive: true, force: true });
  });

  const run = async (text: string, options: Partial<GuideShellOptions> = {}): Promise<readonly string[]> => {
    shell = await GuideShell.open({ folder, ...options });
    const outcomes = await shell.run(stepsOf(text, 'a.md'));
    return outcomes.map(({ stdout }) => stdout);
  };
  const block = (...commands: string[]): string => `\`\`\`sh\n${commands.join('\n')}\n\`\`\`\n`;

  it('runs each with what the earlier ones left', async () => {
    expect(await run(page)).toEqual(['', 'Hello world\n', '1\n2\n', 'world again\n']);
    expect(shell.left(stepsOf(page, 'a.md'))).toEqual([]);
    expect(shell.left(stepsOf(page, 'b.md'))).toHaveLength(4);
  });

  it('stops at the first that fails, and names page, line and command', async () => {
    const failing = run(block('echo well', 'echo why >&2; false; true', 'touch never'));
    await expect(failing).rejects.toThrow('a.md:3: ended with 1\n  echo why >&2; false; true\nwhy\n');
    await expect(failing).rejects.toBeInstanceOf(GuideFailure);
    expect(shell.left(stepsOf(block('1', '2', '3'), 'a.md'))).toEqual(['a.md:4']);
  });

  it('does not run what follows a failure in a list', async () => {
    await expect(run(block('touch one &&', 'false &&', 'touch other'))).rejects.toThrow(
      'a.md:2: ended with 1',
    );
    expect(await readdir(folder)).toEqual(['one']);
  });

  it.each([
    ['a variable that is not set', block('echo $nothing'), 'a.md:2: ended with'],
    ['what bash does not take', block('if'), 'a.md:2: ended with'],
    ['an end of the shell', block('kill -9 $$'), 'a.md:2: the shell has ended'],
    [
      'other output than the page shows',
      `${block('echo b')}\`\`\`text\na\n\`\`\``,
      'does not print what the page',
    ],
    ['a program that the stand-in does not know', block('tool other'), 'does not know "other", only: make *'],
  ])('fails at %s', async (_, text, message) => {
    const tool = knowing({ 'make *': () => undefined });
    await expect(run(text, { standIns: { tool } })).rejects.toThrow(message);
  });

  it('gives up a command that does not end', async () => {
    await expect(run(block('sleep 60'), { timeoutMs: 300 })).rejects.toThrow('did not end within 300 ms');
  });

  it('has stand-ins, which get their words, folder and input', async () => {
    const tool = knowing({
      'make --file=* now': ([file], use) => `${file} in ${use.folder}: ${use.input}`,
    });
    expect(
      await run(block('mkdir sub; cd sub', 'echo in | tool make --file=f now'), { standIns: { tool } }),
    ).toEqual(['', `f in ${folder}/sub: in\n`]);
    expect(shell.standIns.used).toEqual(['tool make --file=f now']);
  });

  it('ends what a guide leaves in the background', async () => {
    const [pid] = await run(block('sleep 600 & echo $!'));
    await shell.close();
    await until('it has ended', () => hasEnded(Number(pid)));
    shell = await GuideShell.open({ folder });
  });
});
