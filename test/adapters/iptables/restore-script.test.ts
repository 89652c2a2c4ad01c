import {
  writeChains,
  RestoreScript,
  type PlacedLine,
} from '../../../src/adapters/iptables/restore-script.js';

/** Chains, two to an owner, whose names have nothing to do with the order in which they come. */
function chains(count: number) {
  return Array.from({ length: count }, (_, index) => {
    const name = `KUBE-SEP-${String((index * 7919) % count).padStart(6, '0')}`;
    return {
      chain: { table: 'nat', name, rules: [`-j ${index}`, '-j RETURN'] } as const,
      owner: `ns/s${index >> 1}/tcp/` as never,
    };
  });
}

function textOf(script: RestoreScript): string {
  return [...script].join('');
}

describe('the text of a script', () => {
  it('gives others a turn, though there is nothing to write yet', () => {
    const script = new RestoreScript(function* (lines) {
      for (let step = 0; step < 10_000; step++) yield;
      lines.remove('nat', 'KUBE-SEP-X');
    });
    const pieces = [...script];
    expect(pieces.length).toBeGreaterThan(10);
    expect(pieces.slice(0, -1).every((piece) => piece === '')).toBe(true);
    expect(pieces.at(-1)).toBe('*nat\n-X KUBE-SEP-X\nCOMMIT\n');
  });

  it('names its table before the second chain is made, so that the tool can read it meanwhile', () => {
    let made = 0;
    const source = (function* () {
      for (const chain of chains(100)) {
        made++;
        yield chain;
      }
    })();
    const text = new RestoreScript((lines) => writeChains(lines, source, Infinity));
    const pieces = text[Symbol.iterator]();
    expect(pieces.next().value).toBe('*nat\n');
    expect(made).toBe(1);
    expect([...pieces].join('')).toMatch(/^:KUBE-SEP-000099 - /);
    expect(made).toBe(100);
  });

  it('is not made to see whether there is any', () => {
    let steps = 0;
    const script = new RestoreScript(function* (lines) {
      for (; steps < 1_000; steps++) {
        if (steps > 10) lines.remove('nat', 'KUBE-SEP-X');
        yield;
      }
    });
    expect(script.isEmpty()).toBe(false);
    expect(steps).toBeLessThan(20);
  });

  it('is none for nothing', () => {
    const script = new RestoreScript(function* () {
      for (let step = 0; step < 1_000; step++) yield;
    });
    expect(textOf(script)).toBe('');
    expect(script.isEmpty()).toBe(true);
  });
});

describe.each([
  { chainsPerCommit: 500, commits: 6 },
  { chainsPerCommit: Infinity, commits: 1 },
])('3,000 chains with $chainsPerCommit to a commit', ({ chainsPerCommit, commits }) => {
  const all = chains(3_000);
  const script = new RestoreScript((lines) => writeChains(lines, all, chainsPerCommit));
  const lines = textOf(script).trimEnd().split('\n');

  it('are written whole, each before its rules, which keep their order', () => {
    const present = new Map<string, string[]>();
    for (const line of lines) {
      const [, declared] = /^:(\S+) - /.exec(line) ?? [];
      if (declared !== undefined) present.set(declared, []);
      const [, name, rule] = /^-A (\S+) (.*)$/.exec(line) ?? [];
      if (name !== undefined) present.get(name)!.push(rule!);
    }
    expect(present).toEqual(new Map(all.map(({ chain }) => [chain.name, [...chain.rules]])));
  });

  it('stand together with those of the same owner', () => {
    const commitOf = new Map<string, number>();
    let commit = 0;
    for (const line of lines) {
      if (line === 'COMMIT') commit++;
      if (line.startsWith(':')) commitOf.set(line.slice(1).split(' ')[0]!, commit);
    }
    expect(commit).toBe(commits);
    for (let index = 0; index < all.length; index += 2)
      expect(commitOf.get(all[index]!.chain.name)).toBe(commitOf.get(all[index + 1]!.chain.name));
  });

  it('can be found by their lines', () => {
    const placed: PlacedLine[] = [];
    script.forEachLine((line) => placed.push(line));
    expect(placed.map(({ text }) => text)).toEqual(lines);
    expect(placed.map(({ number }) => number)).toEqual(lines.map((_, index) => index + 1));
    expect(placed.find(({ text }) => text.endsWith(' -j 1234'))).toMatchObject({ owner: 'ns/s617/tcp/' });
    expect(placed.at(-1)!.commit).toBe(commits - 1);
  });
});
