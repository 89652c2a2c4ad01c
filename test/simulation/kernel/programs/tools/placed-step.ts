import type { Obstacle, TableDraft } from '../tables/table-draft.js';
import { isBuiltIn } from '../tables/table.js';
import { perform, type Step } from './perform.js';

/** What a line of a restore asks for. */
export interface PlacedStep extends Step {
  readonly line: number;
  /** `:CHAIN`: a chain that is made, or emptied. */
  readonly declares: boolean;
  readonly counters?: readonly [number, number] | undefined;
}

/** @returns why it cannot be taken */
export function takeStep(draft: TableDraft, step: PlacedStep): Obstacle | undefined {
  return step.declares ? declare(draft, step) : perform(draft, step);
}

/** `:CHAIN`. Built-in chains keep their rules. */
function declare(
  draft: TableDraft,
  { chain = '', name, counters = [0, 0] }: PlacedStep,
): Obstacle | undefined {
  if (isBuiltIn(draft.name, chain)) {
    if (name === undefined || name === '-') return draft.touch(chain);
    return draft.setPolicy(chain, name, ...counters);
  }
  return draft.has(chain) ? draft.flush(chain) : draft.make(chain);
}
