import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type Comparison, comparisonTable } from '../../bench/against/report.js';
import type { Stored } from '../../bench/stored-results.js';
import { nightly } from '../support/nightly.js';
import { until } from '../support/until.js';

const run = promisify(execFile);

/** Namespaces of measurements whose process has ended. */
async function abandoned(): Promise<string[]> {
  const names = await readdir('/run/netns').catch(() => []);
  return names.filter((name) => name.startsWith('bench-') && !existsSync(name.replace('bench-', '/proc/')));
}

describe('npm run bench', () => {
  it('measures one size on the Node of the image, finds a restart without writes, and leaves nothing behind', async () => {
    const before = await abandoned();
    const { stdout } = await run(process.execPath, ['bench/run.mjs', '--services', '40', '--endpoints', '3']);
    const [version, , ...lines] = stdout.trim().split('\n');
    expect(version).toMatch(/^Node v24\./);
    expect(lines).toHaveLength(3);
    expect(lines[2]).toMatch(/^\| 40 × 3 \|.*, 0 writes \| \d+, \d+, \d+ MB \|$/);
    expect(await abandoned()).toEqual(before);
  });

  if (nightly)
    it('measures mode ipvs on a kernel of its own', async () => {
      const only = ['--this-node', '--mode', 'ipvs', '--services', '20'];
      const { stdout } = await run(process.execPath, ['bench/run.mjs', ...only]);
      expect(stdout.trim().split('\n').at(-1)).toMatch(/^\| 20 × 5 \|.*, 0 writes \| \d+, \d+, \d+ MB \|$/);
    }, 180_000);

  it('says what is wrong with its arguments', async () => {
    // What bench/run.mjs has built for the measurements above.
    await expect(run(process.execPath, ['build/bench/main.js', '--services', 'many'])).rejects.toThrow(
      '--services takes a positive number, not "many"',
    );
  });

  describe('--against', () => {
    let folder: string;
    let namespaces: readonly string[];
    beforeEach(async () => {
      namespaces = await abandoned();
      folder = await mkdtemp(join(tmpdir(), 'against-'));
      // The API server allows what the ClusterRole does.
      await symlink(resolve('deploy'), join(folder, 'deploy'));
    });
    afterEach(() => rm(folder, { recursive: true }));

    /** Measures a shell script, which has `"$@"` as its command line, with what bench/run.mjs has built. */
    async function against(script: string, ...options: readonly string[]): Promise<string> {
      const path = join(folder, 'other-proxy');
      await writeFile(path, `#!/bin/sh\n[ "$1" = --version ] && echo v1.99 && exit\n${script}\n`);
      await chmod(path, 0o755);
      const main = [resolve('build/bench/main.js'), '--against', `other=${path}`, ...options];
      const { stdout } = await run(process.execPath, main, {
        cwd: folder,
        env: { ...process.env, TMPDIR: folder },
      });
      return stdout.trim();
    }

    /** Command lines of the processes that were started with the folder as that for temporary files, by their ids. */
    async function running(): Promise<ReadonlyMap<number, string>> {
      const found = new Map<number, string>();
      for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
        const [environment, commandLine] = await Promise.all(
          ['environ', 'cmdline'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')),
        );
        if (environment!.includes(`TMPDIR=${folder}`))
          found.set(Number(pid), commandLine!.replaceAll('\0', ' '));
      }
      return found;
    }

    /** Files in the folder, processes, and network namespaces. */
    async function leftBehind(): Promise<string[]> {
      const own = ['other-proxy', 'bench', 'deploy'];
      const files = (await readdir(folder)).filter((name) => !own.includes(name));
      const newNamespaces = (await abandoned()).filter((name) => !namespaces.includes(name));
      return [...files, ...(await running()).values(), ...newNamespaces];
    }

    function row(table: string, name: string): readonly string[] {
      const line = table.split('\n').find((each) => each.startsWith(`| ${name}`))!;
      return line
        .split('|')
        .slice(2, -1)
        .map((cell) => cell.trim());
    }

    const program = resolve('bin/kubeproxy');
    const time = /^[\d.]+ m?s$/;

    it('measures another proxy and this one, and stores the table', async () => {
      // The same program, with a pause between syncs that is longer than that between changes.
      const slow = `sed -i 's/"conntrack"/"nftables":{"minSyncPeriod":"4s"},&/' "$2"; exec ${program} "$@"`;
      const sizes = ['--services', '30', '--endpoints', '3', '--seconds', '9', '--store'];
      const table = await against(slow, ...sizes);
      expect(table).toMatch(/^nftables: 30 Services of 3 endpoints, medians of 1 run\.\nLinux .*, Node v/);
      expect(row(table, ' ')).toEqual([
        expect.stringMatching(/^kube-proxy-ts \(Kubernetes v1\.\d+\.\d+\)$/),
        'other (v1.99)',
      ]);
      for (const name of ['start of', 'processor time', 'restart, nothing changed', 'restart to the first'])
        expect(row(table, name)).toEqual([expect.stringMatching(time), expect.stringMatching(time)]);
      for (const cell of row(table, 'peak memory')) expect(Number.parseInt(cell)).toBeGreaterThan(30);
      // That of the change.
      expect(row(table, 'nf_tables transactions')).toEqual(['1', '1']);
      const [own, other] = row(table, 'one endpoint replaced');
      expect(own).toMatch(/^[\d.]+ ms$/);
      expect(other).toMatch(/^[2-4]\.\d\d s$/);
      expect(row(table, 'longest')[1]).toMatch(/^[2-4]\.\d\d s \(of \d\)$/);

      const file = join(folder, 'bench/results/against-other-nftables.json');
      const [stored] = JSON.parse(await readFile(file, 'utf8')) as Stored<Comparison>[];
      expect(comparisonTable(stored!)).toBe(table);
      expect(await leftBehind()).toEqual([]);
    }, 120_000);

    it('finds one Service among others that is not reachable', async () => {
      // It is no part of the sample.
      const rule = 'ip daddr 10.96.1.100 drop';
      const chain = `add chain ip test c { type filter hook output priority -200; }; add rule ip test c ${rule}`;
      const script = `nft 'add table ip test; ${chain}'; exec ${program} "$@"`;
      const table = await against(script, '--services', '250', '--seconds', '5');
      expect(row(table, 'start of')).toEqual([expect.stringMatching(time), 'more than 5 s']);
      expect(row(table, 'restart to the first')).toEqual([expect.stringMatching(time), '–']);
      expect(row(table, 'peak memory')).toEqual([expect.stringMatching(/^\d+ MB$/), '–']);
    }, 120_000);

    it('reports a program that ends, with its last lines', async () => {
      const measured = against('echo no configuration >&2; exit 3', '--services', '20', '--seconds', '3');
      await expect(measured).rejects.toThrow(
        /error: \S+\/other-proxy --config \S+ ended with status 3\nno configuration\n/,
      );
      expect(await leftBehind()).toEqual([]);
    }, 60_000);

    it('reports a program that does nothing, and kills it if it ignores SIGTERM', async () => {
      const script = "trap '' TERM; while :; do sleep 3; done";
      await expect(against(script, '--services', '20', '--seconds', '3')).rejects.toThrow(
        /error: \S+\/other-proxy sent no request to the API server in 3 s/,
      );
      expect(await leftBehind()).toEqual([]);
    }, 60_000);

    it('leaves nothing behind when it is interrupted', async () => {
      const measured = against(`exec ${program} "$@"`, '--services', '20');
      const ended = expect(measured).rejects.toThrow('Command failed');
      const idOf = async (option: string): Promise<number | undefined> =>
        [...(await running())].find(([, commandLine]) => commandLine.includes(option))?.[0];
      await until('a proxy runs', async () => (await idOf('--config')) !== undefined);
      process.kill((await idOf('--against'))!, 'SIGTERM');
      await ended;
      // The kernel takes a moment to end processes.
      await until('all processes have ended', async () => (await running()).size === 0, 20_000);
      expect(await leftBehind()).toEqual([]);
    }, 60_000);

    it('reports a path that cannot be run', async () => {
      const main = [resolve('build/bench/main.js'), '--against', 'other=/no/such/proxy'];
      await expect(run(process.execPath, main)).rejects.toThrow(
        /error: \/no\/such\/proxy --version ended with status 1:\n.*No such file/,
      );
    });

    if (nightly)
      it.each(['iptables-nft', 'iptables-legacy'])(
        'measures %s',
        async (mode) => {
          const table = await against(
            `exec ${program} "$@"`,
            '--services',
            '30',
            '--seconds',
            '9',
            '--mode',
            mode,
          );
          for (const name of ['start of', 'restart to the first', 'one endpoint replaced'])
            expect(row(table, name)).toEqual([expect.stringMatching(time), expect.stringMatching(time)]);
          const transactions = mode === 'iptables-nft' ? '1' : '–';
          expect(row(table, 'nf_tables transactions')).toEqual([transactions, transactions]);
        },
        120_000,
      );
  });
});
