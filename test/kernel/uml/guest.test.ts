import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Guest } from './guest.js';
import { resultsOf } from './guest-tests.js';

const lines = (...events: object[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join('');
const started = { type: 'start', name: 'a suite', nesting: 0 };
const passed = { type: 'end', name: 'a test', nesting: 1, suite: false, milliseconds: 3 };
const ended = { exitStatus: 0, console: '' };

describe('a guest', () => {
  it('keeps what it writes to itself, and shows how its kernel crashed', async () => {
    const guest = await Guest.make();
    try {
      const script = [
        'echo lost >/kpguest-lost && cat /kpguest-lost >/exchange/kept',
        'uname -r >/exchange/release',
        'echo c >/proc/sysrq-trigger',
      ];
      const end = await guest.run(['sh', '-c', script.join('\n')], 'kept');
      expect(end.exitStatus).toBeUndefined();
      expect(end.console).toContain('Kernel panic - not syncing: sysrq triggered crash');
      expect(await readFile(join(guest.folder, 'kept'), 'utf8')).toBe('lost\n');
      const own = await readFile('/proc/sys/kernel/osrelease', 'utf8');
      expect(await readFile(join(guest.folder, 'release'), 'utf8')).not.toBe(own);
      await expect(access('/kpguest-lost')).rejects.toThrow(/ENOENT/);
    } finally {
      await guest.remove();
    }
  });
});

describe('the tests of a guest', () => {
  it('are those it told of', () => {
    const complete = lines(
      started,
      passed,
      { ...passed, name: 'other', failureType: 'testCodeFailure', error: 'why' },
      { ...passed, ...started, type: 'end', suite: true, failureType: 'subtestsFailed', error: '1 failed' },
      { type: 'complete' },
    );
    expect(resultsOf(complete, { ...ended, exitStatus: 1 })).toEqual([
      { path: ['a suite', 'a test'], milliseconds: 3 },
      { path: ['a suite', 'other'], milliseconds: 3, error: 'why' },
    ]);
  });

  it('have one more that fails when the guest ended early', () => {
    const [first, last, ...more] = resultsOf(
      `${lines(started, passed, { type: 'run', name: 'never ends' })}{"ty`,
      { exitStatus: undefined, problem: 'it did nothing for 60 s and was ended', console: 'the console' },
    );
    expect(first!.error).toBeUndefined();
    expect(last!.error).toBe(
      'the guest ended early, in or after "never ends": it did nothing for 60 s and was ended\nthe console',
    );
    expect(more).toEqual([]);
  });

  it('fail when no test did but the program itself', () => {
    const results = resultsOf(lines(started, passed, { type: 'complete' }), { ...ended, exitStatus: 7 });
    expect(results.at(-1)!.error).toContain('exit status 7');
  });

  it('fail when a suite could not be set up', () => {
    const suite = { ...passed, name: 'a suite', nesting: 0, suite: true, milliseconds: 1 };
    const results = resultsOf(
      lines(started, { ...suite, failureType: 'hookFailed', error: 'no device' }, { type: 'complete' }),
      { ...ended, exitStatus: 1 },
    );
    expect(results).toEqual([{ path: ['a suite'], milliseconds: 1, error: 'no device' }]);
  });
});
