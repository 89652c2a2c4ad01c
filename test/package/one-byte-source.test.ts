import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { oneByteSource } from '../../scripts/one-byte-source.mjs';

it('leaves nothing but ASCII in a bundle, which says the same', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'one-byte-'));
  try {
    const contents =
      'class A {\n  /** – a dash */\n  of = (text) => /^[µμ]s – \u{1f600}$/.test(text);\n}\nexport const is = new A().of;';
    const outfile = join(folder, 'out.mjs');
    await build({ stdin: { contents }, outfile, bundle: true, format: 'esm', plugins: [oneByteSource] });
    const text = await readFile(outfile, 'utf8');
    expect(text).toMatch(/^[\0-\x7f]+$/);
    const { is } = (await import(outfile)) as { is: (text: string) => boolean };
    expect(['µs – \u{1f600}', 'μs – \u{1f600}', 'ms'].map(is)).toEqual([true, true, false]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
