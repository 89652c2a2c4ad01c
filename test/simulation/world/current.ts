import type { World } from './world.js';

/**
 * The world that is simulated now. The modules that stand in place of Node's own (`replaced`) are loaded once for all worlds, as
 * Node's own are.
 */
export let world: World;

export function enter(next: World): void {
  world = next;
}
