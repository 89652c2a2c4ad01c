import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { cpuCount } from '../../../src/adapters/process/host-facts.js';
import { setOomScore } from '../../../src/adapters/process/own-process.js';

const folder = () => mkdtempSync(join(tmpdir(), 'host-'));

describe('cpuCount', () => {
  it('counts the CPUs that are online, and nothing else', () => {
    const sys = folder();
    const cpu = (name: string, online?: string) => {
      mkdirSync(join(sys, 'devices/system/cpu', name), { recursive: true });
      if (online) writeFileSync(join(sys, 'devices/system/cpu', name, 'online'), `${online}\n`);
    };
    cpu('cpu0');
    cpu('cpu1', '1');
    cpu('cpu2', '0');
    cpu('cpu11', '1');
    cpu('cpufreq');
    expect(cpuCount(sys)).toBe(3);
  });

  it('counts what may be used where /sys is not there', () => {
    expect(cpuCount(folder())).toBe(availableParallelism());
  });
});

describe('setOomScore', () => {
  it('writes the score', async () => {
    const file = join(folder(), 'oom_score_adj');
    writeFileSync(file, '0');
    await setOomScore(-999, new FakeClock(), new MemoryLogger(), file);
    expect(readFileSync(file, 'utf8')).toBe('-999');
  });

  it('tries twice, 100 ms apart, and then only logs it', async () => {
    const clock = new FakeClock();
    const logger = new MemoryLogger();
    // A folder cannot be written: any failure but a missing file.
    const done = setOomScore(-999, clock, logger, folder());
    while (clock.pending === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(logger.lines).toEqual([]);
    clock.advance(100);
    await done;
    expect(logger.lines).toMatchObject([{ level: 'warn', facts: { score: -999 } }]);
  });

  it('says nothing where it is so already, and writes nothing', async () => {
    const logger = new MemoryLogger();
    const file = join(folder(), 'oom_score_adj');
    writeFileSync(file, '-999\n');
    await setOomScore(-999, new FakeClock(), logger, file);
    expect([readFileSync(file, 'utf8'), logger.lines]).toEqual(['-999\n', []]);
  });

  it('logs a missing permission in one line, which is not an error', async () => {
    const logger = new MemoryLogger();
    // A file that may be read, but that even root may not write.
    await setOomScore(-999, new FakeClock(), logger, '/proc/sys/kernel/osrelease');
    expect(logger.lines).toMatchObject([{ level: 'info', facts: { wanted: -999 } }]);
    expect(logger.lines[0]).not.toHaveProperty('facts.error');
  });

  it('leaves what the kubelet has set, without a word', async () => {
    const logger = new MemoryLogger();
    const place = folder();
    chmodSync(place, 0o755);
    const file = join(place, 'oom_score_adj');
    writeFileSync(file, '-997\n', { mode: 0o444 });
    await asNobody(() => setOomScore(-999, new FakeClock(), logger, file));
    expect([readFileSync(file, 'utf8'), logger.lines]).toEqual(['-997\n', []]);
  });

  it('does not ask a kernel again that lacks the file', async () => {
    const logger = new MemoryLogger();
    await setOomScore(-999, new FakeClock(), logger, join(folder(), 'missing'));
    expect(logger.lines).toMatchObject([{ level: 'warn' }]);
  });
});

/** As a user who may not write what belongs to root. */
async function asNobody(work: () => Promise<void>): Promise<void> {
  const user = process.geteuid!();
  if (user === 0) process.seteuid!(65534);
  try {
    await work();
  } finally {
    if (user === 0) process.seteuid!(user);
  }
}
