import type { ChainsOf } from '../../../src/domain/iptables/state/iptables-change.js';
import { writeChains, writeChanged } from '../../../src/adapters/iptables/restore/chain-lines.js';
import { RestoreScript } from '../../../src/adapters/iptables/restore/restore-script.js';

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
  return [...script.text()].join('');
}

describe('the text of a script', () => {
  it('gives others a turn, though there is nothing to write yet', () => {
    const script = new RestoreScript(function* (lines) {
      for (let step = 0; step < 10_000; step++) yield;
      lines.remove('nat', 'KUBE-SEP-X');
    });
    const pieces = [...script.text()];
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
    const text = new RestoreScript((lines) => writeChains(lines, source, Infinity)).text();
    const pieces = text[Symbol.iterator]();
    expect(pieces.next().value).toBe('*nat\n');
    expect(made).toBe(1);
    expect([...pieces].join('')).toMatch(/^:KUBE-SEP-000099 - /);
    expect(made).toBe(100);
  });

  it('is none for nothing', () => {
    const script = new RestoreScript(function* () {
      for (let step = 0; step < 1_000; step++) yield;
    });
    expect(textOf(script)).toBe('');
  });
});

/** Two chains to an owner, as a change has them. */
function byOwner(all: ReturnType<typeof chains>): readonly ChainsOf[] {
  return all.flatMap(({ chain, owner }, index) =>
    index % 2 === 0 ? [{ owner, chains: [chain, all[index + 1]!.chain] }] : [],
  );
}

describe.each([
  { chainsPerCommit: 500, commits: 6, what: 'chains' },
  { chainsPerCommit: Infinity, commits: 1, what: 'chains' },
  { chainsPerCommit: 500, commits: 6, what: 'changed chains' },
  { chainsPerCommit: Infinity, commits: 1, what: 'changed chains' },
])('3,000 $what with $chainsPerCommit to a commit', ({ chainsPerCommit, commits, what }) => {
  const all = chains(3_000);
  const script = new RestoreScript((lines) =>
    what === 'chains'
      ? writeChains(lines, all, chainsPerCommit)
      : writeChanged(lines, byOwner(all), chainsPerCommit),
  );
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
    const number = lines.findIndex((line) => line.endsWith(' -j 1234')) + 1;
    expect(script.find([number]).get(number)).toMatchObject({
      text: lines[number - 1],
      owner: 'ns/s617/tcp/',
    });
  });
});
