import { once } from 'node:events';

/** Writes to standard output, and waits until a slow reader has taken it: the program ends at once after its command. */
export async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}
