import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IpFamily } from '../../src/domain/net/ip-family.js';
import { Programs, type ProgramResult } from '../simulation/kernel/programs/programs.js';
import { RandomRestores } from '../simulation/kernel/programs/random-restores.js';
import { Random } from '../simulation/world/random.js';

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
    stdout: stdout.replace(/^#.*\n/gm, '').replace(/ initval 0x[0-9a-f]+/g, ''),
    stderr: stderr.replace(/^#.*\n/gm, ''),
  };
}

const rounds = Number(process.env.SIMULATED_PROGRAMS ?? 60);
const firstSeed = Number(process.env.SIMULATED_SEED ?? 1);

describe.each(['legacy', 'nft'] as const)('the simulated iptables-%s', (variant) => {
  it.each(['IPv4', 'IPv6'] as const)(
    'does what the real one does with restores of %s',
    (family: IpFamily) => {
      const base = family === 'IPv4' ? 'iptables' : 'ip6tables';
      const real = new RealPrograms();
      const simulated = new Programs();
      const restores = new RandomRestores(new Random(firstSeed), family);
      for (let round = 0; round < rounds; round++) {
        const input = restores.next();
        const command = [`${base}-${variant}-restore`, '--noflush'];
        const place = { round, input };
        expect({ ...place, ...seen(simulated.run(command, input)) }).toEqual({
          ...place,
          ...seen(real.run(command, input)),
        });
        const save = [`${base}-${variant}-save`];
        expect({ ...place, ...seen(simulated.run(save)) }).toEqual({ ...place, ...seen(real.run(save)) });
      }
    },
  );
});
