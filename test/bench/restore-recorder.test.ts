import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchHost } from '../../bench/host.js';
import { RestoreRecorder } from '../../bench/restore-recorder.js';

it('passes a restore on with its exit status, and keeps it to be run again', async () => {
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
    expect(await recorder.count()).toBe(1);
    expect(await recorder.counters()).toEqual(['one']);

    const outputs: string[] = [];
    const host = {
      run: (command: string, ...rest: string[]) => {
        outputs.push(spawnSync(command, rest, { encoding: 'utf8', env: process.env }).stdout);
        return Promise.resolve({ milliseconds: 7 });
      },
    } as unknown as BenchHost;
    expect(await recorder.replay(host)).toBe(7);
    expect(outputs).toEqual(['-w 5: -m nfacct --nfacct-name one -j DROP\n']);
  } finally {
    process.env.PATH = path;
    await rm(folder, { recursive: true, force: true });
  }
});
