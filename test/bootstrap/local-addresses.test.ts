import { build } from 'esbuild';
import { execa } from 'execa';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

it('lists the addresses that Node knows where netlink is unavailable, with a warning once they are needed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kpkoffi-'));
  try {
    const source = fileURLToPath(new URL('../../src/bootstrap/this-node.ts', import.meta.url));
    const outfile = join(folder, 'local-addresses.mjs');
    // A package that does not load: without it, one in a folder above would be found.
    const koffi = join(folder, 'node_modules/koffi');
    await mkdir(koffi, { recursive: true });
    await writeFile(join(koffi, 'index.js'), "throw new Error('no binary')");
    await build({ entryPoints: [source], outfile, bundle: true, format: 'esm', platform: 'node' });
    const program = `import { NodeAddresses } from ${JSON.stringify(outfile)};
      const [addresses, unused] = [1, 2].map(() => new NodeAddresses(undefined, { warn: (_, text) => console.log(text) }));
      unused.close();
      for (const each of [addresses, unused]) each.follow(() => {});
      console.log('unused', unused.list().join());
      console.log('listed', addresses.list().join());`;
    const { stdout } = await execa(process.execPath, ['--input-type=module', '-e', program], { cwd: folder });
    const [unused, warning, listed] = stdout.split('\n');
    expect(unused).toBe('unused ');
    expect(warning).toMatch(/^netlink is unavailable: interfaces without a carrier are not seen/);
    expect(listed).toMatch(/^listed .*127\.0\.0\.1/);
  } finally {
    await rm(folder, { recursive: true });
  }
});
