import { readdirSync, readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { parseCommand } from '../support/command-line.js';

const page = readFileSync('docs/internals/recordings.md', 'utf8');
const names = readdirSync('docs/internals/casts').map((file) => file.replace(/\.cast$/, ''));
/** https://docs.asciinema.org/manual/asciicast/v2/: seconds since the start, what it is, and the text or the label. */
type Event = readonly [time: number, kind: string, text: string];

function read(name: string): {
  readonly header: object;
  readonly events: readonly Event[];
  readonly bytes: number;
} {
  const text = readFileSync(`docs/internals/casts/${name}.cast`, 'utf8');
  const [header, ...events] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  return { header: header as object, events: events as Event[], bytes: Buffer.byteLength(text) };
}

/** What the terminal has shown at the end, without its colors. */
const shown = (name: string): string => {
  const printed = read(name).events.filter(([, kind]) => kind === 'o');
  return stripVTControlCharacters(printed.map(([, , text]) => text).join('')).replaceAll('\r\n', '\n');
};

const typed = (name: string): readonly string[] =>
  [...shown(name).matchAll(/^\$ (.*)$/gm)].map(([, command]) => command!);

it('the page shows every recording', () => {
  const linked = [...page.matchAll(/\]\(casts\/([\w-]+)\.cast\)/g)].map(([, name]) => name!);
  expect([...linked].sort()).toEqual([...names].sort());
});

describe.each(names)('%s', (name) => {
  it('is what asciinema plays, in order, and small', () => {
    const { header, events, bytes } = read(name);
    expect(header).toMatchObject({ version: 2, width: expect.any(Number), height: expect.any(Number) });
    expect(events.length).toBeGreaterThan(20);
    for (const [at, [time, kind, text]] of events.entries()) {
      expect(time).toBeGreaterThanOrEqual(events[at - 1]?.[0] ?? 0);
      expect(['o', 'm']).toContain(kind);
      expect(typeof text).toBe('string');
    }
    expect(bytes).toBeLessThan(30_000);
    expect(shown(name)).not.toMatch(/\/tmp\/|\/root\/|\/home\//);
  });

  it('has commands that there are, with flags that they take', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly scripts: object };
    const commands = typed(name);
    expect(commands.length).toBeGreaterThan(1);
    for (const command of commands) {
      const [program, ...words] = command.split(' ');
      if (program === 'kubeproxy')
        parseCommand(words, {
          readFile: (file) => readFileSync(`scripts/casts/${file}`, 'utf8'),
          hostname: () => 'node-17',
        });
      else if (program === 'npm') expect(scripts).toHaveProperty(words[0]!);
      else expect(command).toBe('echo $?');
    }
  });
});

it('explain shows what docs/commands.md does', () => {
  const commands = readFileSync('docs/commands.md', 'utf8');
  const section = commands.slice(commands.indexOf('## A Service that does not answer'));
  const example = /^```\n([^]*?)^```$/m.exec(section)![1]!;
  const undated = (text: string): string => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then');
  expect(undated(shown('explain')).startsWith(undated(example))).toBe(true);
});

it('compare ends with 1 where something differs, and with 0 where it is expected', () => {
  expect([...shown('compare').matchAll(/^\$ echo \$\?\n(\d)$/gm)].map(([, code]) => code)).toEqual([
    '1',
    '0',
  ]);
});
