import { build } from 'esbuild';
import { execa } from 'execa';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadLibc } from '../../../src/adapters/netlink/libc.js';

const EBADF = 9;

describe('the C library', () => {
  it('is called, and says why a call failed, from here and from another thread', async () => {
    const libc = loadLibc();
    expect(libc.close(-1)).toBe(-1);
    expect(libc.errno()).toBe(EBADF);
    expect(await libc.sendInBackground(-1, Buffer.alloc(4), 4, 0)).toEqual({ result: -1, errno: EBADF });
    expect(loadLibc()).toBe(libc);
  });

  it('is unavailable without koffi, which is reported', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kpkoffi-'));
    try {
      const source = fileURLToPath(new URL('../../../src/adapters/netlink/libc.ts', import.meta.url));
      const outfile = join(folder, 'libc.mjs');
      await build({ entryPoints: [source], outfile, bundle: true, format: 'esm', platform: 'node' });
      const program = `import { loadLibc } from ${JSON.stringify(outfile)};
        try { loadLibc(); } catch (error) { console.log(error.name + ': ' + error.message); }`;
      const { stdout } = await execa(process.execPath, ['--input-type=module', '-e', program], {
        cwd: folder,
      });
      expect(stdout).toContain('NetlinkUnavailableError: netlink is unavailable: the package koffi');
      expect(stdout).toContain("Cannot find module 'koffi'");
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
