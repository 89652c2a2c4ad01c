import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IpFamily } from '../../src/domain/net/ip-family.js';
import { Programs, type ProgramResult } from '../simulation/kernel/programs/programs.js';
import { RandomRestores } from './simulated-kernel/random-restores.js';
import { RandomSets } from './simulated-kernel/random-sets.js';
import { Random } from '../simulation/world/random.js';
import { sampleOf } from '../support/nightly.js';

const folder = mkdtempSync(join(tmpdir(), `t${process.pid}-simprog-`));
const env = { ...process.env, LC_ALL: 'C', XTABLES_LOCKFILE: join(folder, 'xtables.lock') };
const namespaces: string[] = [];
afterAll(() => {
  for (const name of namespaces) execFileSync('ip', ['netns', 'del', name]);
  rmSync(folder, { recursive: true });
});

/** A network namespace of this machine's kernel, with its real programs. */
class RealPrograms {
  readonly name = `t${process.pid}-simprog${namespaces.length}`;

  constructor() {
    execFileSync('ip', ['netns', 'add', this.name]);
    namespaces.push(this.name);
  }

  run(command: readonly string[], input = ''): ProgramResult {
    const parameters = ['netns', 'exec', this.name, ...command];
    const { status, stdout, stderr } = spawnSync('ip', parameters, { input, env, encoding: 'utf8' });
    return { exitCode: status ?? -1, stdout, stderr };
  }
}

/** What people and programs read of an outcome. */
function seen({ exitCode, stdout, stderr }: ProgramResult): object {
  return {
    exitCode,
    stdout: ordered(stdout.replace(/^#.*\n/gm, '').replace(/ initval 0x[0-9a-f]+/g, '')),
    // What ipset says of a member that it cannot read depends on the readers that it tried, and may be nonsense.
    stderr: stderr
      .replace(/^#.*\n/gm, '')
      .replace(/^(ipset \S+ ).*(?:Syntax error|It's a bug).*/s, '$1cannot read it'),
  };
}

/** The members of sets have no order. */
function ordered(text: string): string {
  return text.replace(/(?:^add .*\n)+/gm, (adds) => adds.split('\n').sort().join('\n'));
}

const rounds = Number(process.env.SIMULATED_PROGRAMS ?? 30);
const firstSeed = Number(process.env.SIMULATED_SEED ?? 1);

/** Has both do the same, and compares what they say of it. */
class Comparison {
  private readonly real = new RealPrograms();
  private readonly simulated = new Programs();
  private round = 0;

  same(command: readonly string[], input = ''): void {
    const place = { round: this.round++, command: command.join(' '), input };
    // What a single command of iptables prints of a failure is not simulated: only its exit status counts.
    const isCommand = /tables-(?:nft|legacy)$/.test(command[0]!);
    const of = (result: ProgramResult) => ({
      ...place,
      ...seen(isCommand ? { ...result, stderr: '' } : result),
    });
    expect(of(this.simulated.run(command, input))).toEqual(of(this.real.run(command, input)));
  }
}

describe.each(['legacy', 'nft'] as const)('the simulated iptables-%s', (variant) => {
  describe.each(sampleOf(['IPv4', 'IPv6'] as const))('for %s', (family: IpFamily) => {
    const program = `${family === 'IPv4' ? 'iptables' : 'ip6tables'}-${variant}`;

    it('does what the real one does with restores', () => {
      const comparison = new Comparison();
      const restores = new RandomRestores(new Random(firstSeed), family);
      for (let round = 0; round < rounds; round++) {
        comparison.same([`${program}-restore`, '--noflush'], restores.next());
        comparison.same([`${program}-save`]);
      }
    });

    it('does what the real one does with commands', () => {
      const comparison = new Comparison();
      const restores = new RandomRestores(new Random(firstSeed), family);
      for (let round = 0; round < rounds; round++) {
        comparison.same([program, ...restores.command()]);
        if (round % 5 === 4) comparison.same([`${program}-save`]);
      }
    });
  });
});

// What ipset makes of sets needs its kernel module, which not every kernel has.
const hasIpSet = new RealPrograms().run(['ipset', 'create', 'A', 'hash:ip']).exitCode === 0;

(hasIpSet ? describe : describe.skip)('the simulated ipset', () => {
  it.each([[['-exist']], [[]]])('does what the real one does with restores %j', (options) => {
    const comparison = new Comparison();
    const sets = new RandomSets(new Random(firstSeed));
    for (let round = 0; round < rounds; round++) {
      comparison.same(['ipset', ...options, 'restore'], sets.restore());
      comparison.same(['ipset', 'save']);
    }
  });

  it('does what the real one does with commands, and with sets that rules look into', () => {
    const comparison = new Comparison();
    const random = new Random(firstSeed);
    const sets = new RandomSets(random);
    for (let round = 0; round < rounds; round++) {
      comparison.same(['ipset', ...sets.line().split(' ')]);
      const rule = `-m set --match-set ${random.pick(['A', 'B'])} dst,dst -j RETURN`;
      comparison.same(['iptables-nft', random.pick(['-A', '-D']), 'OUTPUT', ...rule.split(' ')]);
      comparison.same(['ipset', 'save']);
    }
  });
});
