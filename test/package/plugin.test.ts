import { execa } from 'execa';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';

interface KrewManifest {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly version: string;
    readonly shortDescription: string;
    readonly platforms: readonly { readonly uri: string; readonly sha256: string; readonly bin: string }[];
  };
}

describe('the kubectl plugin of a release', () => {
  let folder: string;
  let manifest: KrewManifest;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plugin-'));
    await execa(process.execPath, ['scripts/plugin.mjs', folder]);
    manifest = parse(await readFile(join(folder, 'kubeproxy.yaml'), 'utf8')) as KrewManifest;
  }, 120_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is one file that does what the plugin of the checkout does, wherever it is', async () => {
    const alone = join(folder, 'alone');
    await mkdir(alone);
    const [{ uri, bin }] = manifest.spec.platforms as [KrewManifest['spec']['platforms'][0]];
    await execa('tar', ['-xzf', join(folder, uri.split('/').at(-1)!), '-C', alone]);
    // Nothing of this checkout is found from here.
    const run = (program: string, ...args: readonly string[]) =>
      execa(program, args, { cwd: alone, env: { HOME: alone, KUBECONFIG: '' }, reject: false });
    const [file, checkout] = [join(alone, bin), join(process.cwd(), 'bin/kubectl-kubeproxy')];
    for (const args of [['--help'], ['explain', '--help'], ['status'], ['nosuch']]) {
      const [met, wanted] = [await run(file, ...args), await run(checkout, ...args)];
      expect([args, met.exitCode, met.stdout, met.stderr]).toEqual([
        args,
        wanted.exitCode,
        wanted.stdout,
        wanted.stderr,
      ]);
    }
  }, 60_000);

  it('is what the manifest for krew names', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
    const [{ uri, sha256 }] = manifest.spec.platforms as [KrewManifest['spec']['platforms'][0]];
    const archive = await readFile(join(folder, uri.split('/').at(-1)!));
    expect(createHash('sha256').update(archive).digest('hex')).toBe(sha256);
    expect(manifest).toMatchObject({ metadata: { name: 'kubeproxy' }, spec: { version: `v${version}` } });
    expect(uri).toContain(`/releases/download/v${version}/`);
    // Krew's limit.
    expect(manifest.spec.shortDescription.length).toBeLessThanOrEqual(80);
  });
});
