import type { World } from './world.js';

/** What modules find that look at the clock while they are loaded. */
const BEFORE_ALL_WORLDS = {
  clockOffset: 0,
  scheduler: { now: 0 },
  random: { next: () => 0 },
  proxy: { startedAt: 0, life: { pid: 0 } },
  settings: { nodeName: '' },
};

/**
 * The world that is simulated now. The modules that stand in place of Node's own (`replaced`) are loaded once for all worlds, as
 * Node's own are.
 */
export let world = BEFORE_ALL_WORLDS as unknown as World;

export function enter(next: World): void {
  world = next;
}
