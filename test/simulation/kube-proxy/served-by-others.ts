import type { Simulation } from '../simulation.js';
import type { Mode } from '../world/settings.js';

/**
 * While the proxy does not run, others have written rules of this mode for the cluster as it is. What they serve is there for good:
 * whoever takes over from them must serve it in each state.
 * @param beside modes of which there are other rules, too, that nobody looks after: then nothing is promised
 */
export function servedByOthers(simulation: Simulation, mode: Mode, beside: readonly Mode[] = []): void {
  const { modes, everyCommit, history, world } = simulation;
  modes.clear();
  for (const present of [mode, ...beside]) modes.add(present);
  const { addresses } = history.ofNode;
  const isWhole = world.settings.families.every((family) => world.machine.links.isLocal(addresses[family]));
  if (beside.length > 0 || !isWhole) return everyCommit.damage(() => undefined, true);
  const problem = everyCommit.presentProblem();
  if (problem !== undefined) simulation.breaks('others serve, too', problem);
  history.settle();
  everyCommit.mended();
}
