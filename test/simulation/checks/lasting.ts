import type { World } from '../world/world.js';

/** Simulated milliseconds. */
const LOOKED_EVERY = 1_000;

/**
 * What is wrong, if it is still wrong when its time is over; undefined as soon as nothing is.
 * @param problem what is wrong now
 * @param end in simulated milliseconds
 */
export async function lasting<T>(
  world: World,
  problem: () => T | undefined | Promise<T | undefined>,
  end: number,
): Promise<T | undefined> {
  for (;;) {
    const found = await problem();
    if (found === undefined || world.now >= end) return found;
    await world.scheduler.runUntil(Math.min(end, world.now + LOOKED_EVERY));
  }
}
