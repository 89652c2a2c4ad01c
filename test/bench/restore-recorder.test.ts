import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RestoreRecorder } from '../../bench/restore-recorder.js';

it('passes a restore on with its exit status, and keeps it by its phase', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'restore-recorder-'));
  const path = process.env.PATH;
  try {
    const tool = join(folder, 'ip6tables-nft-restore');
    await writeFile(tool, '#!/bin/sh\necho "$*: $(cat)"\nexit 3\n');
    await chmod(tool, 0o755);
    process.env.PATH = `${folder}:${path}`;
    const recorder = new RestoreRecorder(join(folder, 'recordings'));
    await recorder.install();
    const [file, ...parameters] = recorder.recorded('ip6tables-nft-restore', '-w', '5');
    const run = spawnSync(file!, parameters, {
      input: '-m nfacct --nfacct-name one -j DROP\n',
      encoding: 'utf8',
    });
    expect([run.status, run.stdout]).toEqual([3, '-w 5: -m nfacct --nfacct-name one -j DROP\n']);
    await writeFile(recorder.phaseFile, 'burst');
    spawnSync(file!, [...parameters, '--noflush'], { input: '' });
    // A trial writes nothing, and is not kept.
    const trial = spawnSync(file!, [...parameters, '--test'], { input: 'x', encoding: 'utf8' });
    expect(trial.stdout).toBe('-w 5 --test: x\n');

    const recordings = await recorder.recordings();
    expect(recordings.map(({ phase, command }) => [phase, ...command])).toEqual([
      ['first', 'ip6tables-nft-restore', '-w', '5'],
      ['burst', 'ip6tables-nft-restore', '-w', '5', '--noflush'],
    ]);
    expect(await readFile(recordings[0]!.input, 'utf8')).toBe('-m nfacct --nfacct-name one -j DROP\n');
    expect(await recorder.counters()).toEqual(['one']);
  } finally {
    process.env.PATH = path;
    await rm(folder, { recursive: true, force: true });
  }
});
