import { fields, flag, number, optional } from '../../../../domain/shape.js';
import type { RunningProxy } from '../asking/running-proxy.js';

/** Part of what `/debug/sync` answers. */
const syncState = fields({
  idle: flag,
  appliedEvents: number,
  /** Former versions do not say. */
  changes: optional(number),
});

/**
 * A sign of the proxy's state that costs it nearly nothing: while it is the same, the proxy has been delivered nothing, and has
 * programmed nothing. Undefined: there is none.
 */
async function syncSign(proxy: RunningProxy): Promise<string | undefined> {
  const { idle, appliedEvents, changes } = await proxy.ask('/debug/sync', syncState);
  return changes === undefined ? undefined : `${idle} ${appliedEvents} ${changes}`;
}

/** Asks only when the sign is another one than before. */
export function whenChanged<Answer>(
  proxy: RunningProxy,
  ask: () => Promise<Answer>,
): () => Promise<Answer | undefined> {
  let former: string | undefined;
  return async () => {
    const sign = await syncSign(proxy);
    if (sign !== undefined && sign === former) return undefined;
    former = sign;
    return ask();
  };
}
