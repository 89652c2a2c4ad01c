import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Guest } from '../test/kernel/uml/guest.js';

const OUTPUT = 'output';
/** The largest size takes a while without output. */
const SILENCE_SECONDS = 1800;

/** Runs this benchmark on its own kernel with IPVS (user-mode Linux), and returns what it prints. */
export async function runInGuest(program: string, parameters: readonly string[]): Promise<string> {
  const guest = await Guest.make();
  try {
    const script = `exec "$@" >/exchange/${OUTPUT}`;
    const command = ['sh', '-c', script, 'sh', process.execPath, program, ...parameters];
    const end = await guest.run(command, OUTPUT, { memory: 4096, silenceSeconds: SILENCE_SECONDS });
    if (end.exitStatus !== 0)
      throw new Error(`the guest failed: ${end.problem ?? `exit status ${end.exitStatus}`}\n${end.console}`);
    return await readFile(join(guest.folder, OUTPUT), 'utf8');
  } finally {
    await guest.remove();
  }
}
