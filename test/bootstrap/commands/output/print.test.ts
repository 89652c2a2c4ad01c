import { jest } from '@jest/globals';
import { print } from '../../../../src/bootstrap/commands/output/print.js';

afterEach(() => jest.restoreAllMocks());

function stdoutThatIs(full: boolean): void {
  jest.spyOn(process.stdout, 'write').mockReturnValue(!full);
}

const failure = (code: string): Error => Object.assign(new Error(`write ${code}`), { code });

it('waits for a slow reader', async () => {
  stdoutThatIs(true);
  let printed = false;
  const printing = print('text').then(() => (printed = true));
  await new Promise(setImmediate);
  expect(printed).toBe(false);
  process.stdout.emit('drain');
  await printing;
});

it('waits for nobody who keeps up', async () => {
  stdoutThatIs(false);
  await print('text');
});

it('ends without an error when the reader has left, and only then', async () => {
  stdoutThatIs(true);
  const left = print('text');
  process.stdout.emit('error', failure('EPIPE'));
  await left;
  const full = print('text');
  process.stdout.emit('error', failure('ENOSPC'));
  await expect(full).rejects.toThrow('write ENOSPC');
});
