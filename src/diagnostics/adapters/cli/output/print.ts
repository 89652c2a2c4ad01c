import { once } from 'node:events';
import { written } from './tones.js';

/**
 * Writes lines to standard output, and waits until a slow reader has taken them: the program ends at once after its command. A
 * reader who has left, as `head` does, wants no more. Nothing in them controls a terminal; whoever makes lines of texts of others
 * keeps these from forging one (`formatted`).
 */
export async function print(lines: string): Promise<void> {
  if (process.stdout.write(written(lines))) return;
  try {
    await once(process.stdout, 'drain');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}
