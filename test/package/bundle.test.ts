import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { builtProxy } from '../support/program/built-proxy.js';

/** By the names of the files. */
const sources = new Map<string, string>();

beforeAll(async () => {
  const folder = dirname(await builtProxy());
  for (const name of await readdir(folder))
    if (name.endsWith('.js')) sources.set(name, await readFile(join(folder, name), 'latin1'));
});

const SYNC_LOOP = /\bSyncLoop=class\b|class SyncLoop\b/;

describe('the bundle', () => {
  it('has a proxy read nothing of the requests that only commands send', () => {
    const requests = /class CoreV1ApiRequestFactory|CoreV1ApiRequestFactory=class/;
    expect(has(requests)).toBe(true);
    const serving = [...sources].find(([, source]) => /\basync function runProxy\b/.test(source))![0];
    expect([...readBy(serving)].filter((name) => requests.test(sources.get(name)!))).toEqual([]);
  });

  it('holds one byte for each letter, so that V8 keeps it in half the memory', () => {
    expect(has(/[^\0-\x7f]/)).toBe(false);
  });

  it('leaves out what packages import for what the program does not do', () => {
    for (const unused of [/class Pushgateway/, /function refreshTokenGrant/, /disallowed_STD3/, /V1PodSpec/])
      expect([unused, has(unused)]).toEqual([unused, false]);
  });

  it('keeps names, for stack traces', () => {
    expect(has(SYNC_LOOP)).toBe(true);
  });

  it('has a command read nothing of what only serving needs', () => {
    const read = readBy('kubeproxy.js');
    expect(read.size).toBeGreaterThan(5);
    // Of the container and of the metrics as well.
    for (const serving of [SYNC_LOOP, /BindToFluentSyntaxImplementation/, /collectDefaultMetrics/]) {
      expect(has(serving)).toBe(true);
      expect([...read].filter((name) => serving.test(sources.get(name)!))).toEqual([]);
    }
  });
});

/** A file and all that it imports. */
function readBy(entry: string): ReadonlySet<string> {
  const read = new Set([entry]);
  for (const name of read)
    for (const [, imported] of sources.get(name)!.matchAll(/\b(?:from|import)"\.\/([^"]+)"/g))
      read.add(imported!);
  return read;
}

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
  return [...sources.values()].some((source) => pattern.test(source));
}
