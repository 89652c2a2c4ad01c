import { build } from 'esbuild';
import { execa } from 'execa';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadLibc } from '../../../src/adapters/netlink/netlink-socket.js';

const EBADF = 9;

describe('the C library', () => {
  it('is called, and says why a call failed, from here and from another thread', async () => {
    const libc = loadLibc();
    expect(libc.close(-1)).toBe(-1);
    expect(libc.errno()).toBe(EBADF);
    expect(await libc.sendInBackground(-1, Buffer.alloc(4), 4, 0)).toEqual({ result: -1, errno: EBADF });
    expect(loadLibc()).toBe(libc);
  });

  it.each([
    ['x64', 'does not load'],
    ['s390x', 'has no binary for linux-s390x, only for linux-x64 and linux-arm64'],
  ])(
    'is unavailable on %s without koffi, and the message says where it is available',
    async (arch, problem) => {
      const folder = await mkdtemp(join(tmpdir(), 'kpkoffi-'));
      try {
        const source = fileURLToPath(
          new URL('../../../src/adapters/netlink/netlink-socket.ts', import.meta.url),
        );
        const outfile = join(folder, 'libc.mjs');
        // A package that does not load: without it, one in a folder above would be found.
        const koffi = join(folder, 'node_modules/koffi');
        await mkdir(koffi, { recursive: true });
        await writeFile(join(koffi, 'index.js'), "throw new Error('no binary')");
        await build({ entryPoints: [source], outfile, bundle: true, format: 'esm', platform: 'node' });
        const program = `import { loadLibc } from ${JSON.stringify(outfile)};
        Object.defineProperty(process, 'arch', { value: '${arch}' });
        try { loadLibc(); } catch (error) { console.log(error.name + ': ' + error.message); }`;
        const { stdout } = await execa(process.execPath, ['--input-type=module', '-e', program], {
          cwd: folder,
        });
        expect(stdout).toContain(
          `NetlinkUnavailableError: netlink is unavailable: the package koffi, which calls the C library, ${problem}: no binary`,
        );
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );
});
