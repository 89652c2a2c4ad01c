import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLogger } from '../../src/testing/fakes/memory-logger.js';
import { FileWatch, type FileContents } from '../../src/adapters/folder-watch.js';

let folder: string;
let watch: FileWatch | undefined;
const stopping = new AbortController();

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'file-watch-'));
});
afterEach(() => {
  watch?.close();
  fs.rmSync(folder, { recursive: true });
});

const at = (...names: readonly string[]): string => join(folder, ...names);

/** Starts watching `config`; the look-around is far away unless asked for. */
async function watching(
  lookPeriod: number | 'default' = 60_000,
): Promise<() => Promise<FileContents | undefined>> {
  const period = lookPeriod === 'default' ? [] : [lookPeriod];
  const started = new FileWatch(at('config'), new MemoryLogger(), ...period);
  watch = started;
  await started.next(stopping.signal);
  return () => started.next(stopping.signal);
}

/** Until what was called last has looked at the file and waits. */
const begun = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 30));

describe('FileWatch', () => {
  it('gives what is there at once', async () => {
    fs.writeFileSync(at('config'), 'one');
    watch = new FileWatch(at('config'), new MemoryLogger());
    expect(await watch.next(stopping.signal)).toEqual({ text: 'one' });
  });

  it('notices a rewrite', async () => {
    fs.writeFileSync(at('config'), 'one');
    const next = await watching();
    const change = next();
    await begun();
    fs.writeFileSync(at('config'), 'two');
    expect(await change).toEqual({ text: 'two' });
  });

  it('notices an edit made between two calls', async () => {
    fs.writeFileSync(at('config'), 'one');
    const next = await watching();
    fs.writeFileSync(at('config'), 'two');
    expect(await next()).toEqual({ text: 'two' });
  });

  it('notices a replacement by rename', async () => {
    fs.writeFileSync(at('config'), 'one');
    const next = await watching();
    const change = next();
    await begun();
    fs.writeFileSync(at('new'), 'two');
    fs.renameSync(at('new'), at('config'));
    expect(await change).toEqual({ text: 'two' });
  });

  it('notices the swap of a mounted ConfigMap', async () => {
    fs.mkdirSync(at('..2026_1'));
    fs.mkdirSync(at('..2026_2'));
    fs.writeFileSync(at('..2026_1', 'config'), 'one');
    fs.writeFileSync(at('..2026_2', 'config'), 'two');
    fs.symlinkSync('..2026_1', at('..data'));
    fs.symlinkSync('..data/config', at('config'));
    const next = await watching();
    const change = next();
    await begun();
    fs.symlinkSync('..2026_2', at('..data_tmp'));
    fs.renameSync(at('..data_tmp'), at('..data'));
    fs.rmSync(at('..2026_1'), { recursive: true });
    expect(await change).toEqual({ text: 'two' });
  });

  it('notices that the file went, and that it came back', async () => {
    fs.writeFileSync(at('config'), 'one');
    const next = await watching();
    const removal = next();
    await begun();
    fs.rmSync(at('config'));
    expect(await removal).toMatchObject({ error: { code: 'ENOENT' } });
    const back = next();
    await begun();
    fs.writeFileSync(at('config'), 'one');
    expect(await back).toEqual({ text: 'one' });
  });

  it('says nothing while the contents are the same', async () => {
    fs.writeFileSync(at('config'), 'one');
    const next = await watching(5);
    const change = next();
    await begun();
    let answered = false;
    void change.then(() => (answered = true));
    fs.writeFileSync(at('config'), 'one');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(answered).toBe(false);
    fs.writeFileSync(at('config'), 'two');
    expect(await change).toEqual({ text: 'two' });
  });

  it('does not return the contents of a file that is half written', async () => {
    fs.writeFileSync(at('config'), 'one');
    const next = await watching(5);
    const change = next();
    await begun();
    fs.writeFileSync(at('config'), '');
    await new Promise((resolve) => setTimeout(resolve, 15));
    fs.writeFileSync(at('config'), 'two');
    expect(await change).toEqual({ text: 'two' });
  });

  it('polls every second if the system reports nothing: behind a link to another folder', async () => {
    const elsewhere = fs.mkdtempSync(join(tmpdir(), 'file-watch-'));
    try {
      fs.writeFileSync(join(elsewhere, 'file'), 'one');
      fs.symlinkSync(join(elsewhere, 'file'), at('config'));
      const next = await watching('default');
      const change = next();
      await begun();
      const edited = Date.now();
      fs.writeFileSync(join(elsewhere, 'file'), 'two');
      expect(await change).toEqual({ text: 'two' });
      expect(Date.now() - edited).toBeLessThan(20_000);
    } finally {
      fs.rmSync(elsewhere, { recursive: true });
    }
  });

  it('ends when aborted', async () => {
    fs.writeFileSync(at('config'), 'one');
    watch = new FileWatch(at('config'), new MemoryLogger());
    const abort = new AbortController();
    await watch.next(abort.signal);
    const ending = watch.next(abort.signal);
    await begun();
    abort.abort();
    expect(await ending).toBeUndefined();
  });
});
