import { fileURLToPath } from 'node:url';
import type { BenchHost } from './host.js';

const generationProgram = fileURLToPath(new URL('generation.js', import.meta.url));

/** Counts the nf_tables transactions that changed something on the host while the work ran, of whichever program. */
export async function countWrites<Result>(
  host: BenchHost,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly writes: number }> {
  const before = await generation(host);
  const result = await work();
  return { result, writes: (await generation(host)) - before };
}

/** The number of the last of those transactions. */
export async function generation(host: BenchHost): Promise<number> {
  return Number((await host.run(process.execPath, generationProgram)).output);
}
