import { printError } from '../../../../../src/adapters/cli/print-error.js';
import { print } from '../../../../../src/diagnostics/adapters/cli/output.js';

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

it('writes nothing that controls a terminal', async () => {
  const written: string[] = [];
  const keep = (text: unknown): boolean => written.push(String(text)) > 0;
  jest.spyOn(process.stdout, 'write').mockImplementation(keep);
  jest.spyOn(process.stderr, 'write').mockImplementation(keep);
  await print('one\u001b[2J\n\u009btwo\n');
  printError('zone \u001b[1A\nb');
  expect(written).toEqual(['one\\x1b[2J\n\\u009btwo\n', 'zone \\x1b[1A\\nb\n']);
});
