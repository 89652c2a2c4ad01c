import { once } from 'node:events';

/**
 * Writes to standard output, and waits until a slow reader has taken it: the program ends at once after its command. A reader who
 * has left, as `head` does, wants no more.
 */
export async function print(text: string): Promise<void> {
  if (process.stdout.write(text)) return;
  try {
    await once(process.stdout, 'drain');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}
