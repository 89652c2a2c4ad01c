import { execa } from 'execa';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { InstalledPackage } from './installed-package.js';

const manifests = fileURLToPath(new URL('../../deploy/examples', import.meta.url));
let installed: InstalledPackage;
beforeAll(async () => {
  installed = await InstalledPackage.make();
  await execa('npx', ['--no-install', 'tsc'], { cwd: installed.example });
}, 180_000);
afterAll(() => installed?.remove());

describe('the packed package, in somebody else’s program', () => {
  it('has its entries with their types, and nothing of the checkout besides', async () => {
    const files = await installed.files();
    for (const entry of ['index', 'fakes', 'contract'])
      expect(files).toEqual(expect.arrayContaining([`lib/${entry}.js`, `lib/${entry}.d.ts`]));
    expect(files.filter((file) => /^(src|test|bench|node_modules|scripts)|tsbuildinfo/.test(file))).toEqual(
      [],
    );
  });

  it('lets a backend of one’s own pass the contract, and a whole proxy run in memory', async () => {
    const { stdout } = await execa('node', ['--test', 'dist/'], { cwd: installed.example, reject: false });
    expect(stdout).toMatch(/^# fail 0$/m);
    expect(Number(/^# pass (\d+)$/m.exec(stdout)![1])).toBeGreaterThan(30);
  });

  it('follows manifests until it is ended', async () => {
    const file = `${installed.example}/routes.txt`;
    const program = execa('node', ['dist/main.js', manifests, file], { cwd: installed.example });
    try {
      for (const start = Date.now(); Date.now() - start < 20_000; await sleep(50))
        if ((await readFile(file, 'utf8').catch(() => '')) !== '') break;
    } finally {
      program.kill('SIGTERM');
    }
    const { exitCode, stdout } = await program;
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('routes are in')]);
    expect(await readFile(file, 'utf8')).toMatch(/^10\.96\.0\.80:80\/TCP (10\.\S+:\d+,?){3}$/m);
  });
});
