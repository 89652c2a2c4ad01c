import type { Driver, ReadOptions } from '../ports/driver/driver.js';

/** What was read from the kernel, and the epoch in which it was read. */
export interface Reading<Actual> {
  readonly actual: Actual;
  readonly epoch: number | undefined;
}

/** The epoch comes first: a write of another program while it is read begins another one. */
export async function readKernel<Actual>(
  driver: Pick<Driver<never, never, Actual>, 'watch' | 'read'>,
  options: ReadOptions,
): Promise<Reading<Actual>> {
  const epoch = await driver.watch.epoch();
  return { epoch, actual: await driver.read(options) };
}
