import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { raiseOpenFileLimit } from '../../../src/adapters/userspace/open-file-limit.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';

let logger: MemoryLogger;
let calls: [resource: number, soft: bigint, hard: bigint][];
beforeEach(() => {
  logger = new MemoryLogger();
  calls = [];
});

/** Where the kernel tells of such a hard limit, and a C library whose calls end with this error number, or well. */
async function raise(hard: string, errno = 0): Promise<void> {
  const limits = join(tmpdir(), `limits-${process.pid}`);
  await writeFile(limits, `Limit  Soft Limit  Hard Limit  Units\nMax open files   1024   ${hard}   files\n`);
  const setrlimit = (resource: number, bytes: Buffer): number => {
    calls.push([resource, bytes.readBigUInt64LE(0), bytes.readBigUInt64LE(8)]);
    return errno === 0 ? 0 : -1;
  };
  await raiseOpenFileLimit(logger, limits, () => ({ setrlimit, errno: () => errno }));
}

const CALL = [7, 64_000n, 64_000n];

it('sets both limits where the hard one is low', async () => {
  await raise('4096');
  expect(calls).toEqual([CALL]);
  expect(logger.lines).toEqual([]);
});

it.each(['64000', '1048576', 'unlimited'])('leaves %s as it is', async (hard) => {
  await raise(hard);
  expect([calls, logger.lines]).toEqual([[], []]);
});

it('says once why it could not, and what to do', async () => {
  await raise('4096', 1);
  expect(calls).toEqual([CALL]);
  expect(logger.at('warn')).toEqual([
    expect.objectContaining({
      facts: { limit: 4096, wanted: 64_000, reason: 'EPERM' },
      message: expect.stringMatching(/raise it \(ulimit -Hn\) or grant CAP_SYS_RESOURCE/) as string,
    }),
  ]);
});

it('is the number that the kernel of this machine has for open files', async () => {
  const script = `
    const library = require('koffi').load(null);
    const set = library.func('int setrlimit(int resource, const void *limits)');
    const result = set(7, Buffer.from(new BigUint64Array([500n, 500n]).buffer));
    console.log(result, /^Max open files.*$/m.exec(require('fs').readFileSync('/proc/self/limits', 'utf8'))[0]);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script]);
  expect(stdout).toMatch(/^0 Max open files +500 +500 +files/);
});
