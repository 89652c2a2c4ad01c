import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { builtProxy } from '../support/program/built-proxy.js';

let sources: readonly string[];

beforeAll(async () => {
  const folder = dirname(await builtProxy());
  const files = (await readdir(folder)).filter((name) => name.endsWith('.js'));
  sources = await Promise.all(files.map((name) => readFile(join(folder, name), 'latin1')));
});

describe('the bundle', () => {
  it('holds one byte for each letter, so that V8 keeps it in half the memory', () => {
    expect(has(/[^\0-\x7f]/)).toBe(false);
  });

  it('leaves out what packages import for what the program does not do', () => {
    for (const unused of [/class Pushgateway/, /function refreshTokenGrant/, /disallowed_STD3/, /V1PodSpec/])
      expect([unused, has(unused)]).toEqual([unused, false]);
  });

  it('keeps names, for stack traces', () => {
    expect(has(/\bSyncLoop=class\b|class SyncLoop\b/)).toBe(true);
  });
});

describe('the page', () => {
  it('is at most 150 KB in all', async () => {
    const folder = join(dirname(await builtProxy()), 'page');
    const names = await readdir(folder);
    expect(names.sort()).toEqual(['index.html', 'page.css', 'page.js']);
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(150_000);
  });
});

function has(pattern: RegExp): boolean {
  return sources.some((source) => pattern.test(source));
}
