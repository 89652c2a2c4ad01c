import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import { errorMessage } from '../error-message.js';
import type { ServiceFailure } from '../ports/backend.js';
import type { Driver } from '../ports/driver/driver.js';
import type { UnexplainedRules } from './unexplained-rules.js';

/** Service ports compiled between two turns of the event loop: a millisecond or two. */
const COMPILED_AT_ONCE = 128;

/** Service ports about to be changed, with their last good rules; undefined if they had none. */
export type Candidates<Rules> = ReadonlyMap<ServicePortKey, Rules | undefined>;

/** What came of compiling changes. */
export interface Compiled<Rules> {
  readonly candidates: Candidates<Rules>;
  readonly failed: readonly ServiceFailure[];
}

/**
 * Compiles into the desired state. A service port that cannot be compiled keeps its rules.
 * @param unexplained gives up what turns out to be explained
 * @param change collects what this does to the desired state
 */
export async function compileAll<Rules, Change>(
  driver: Pick<Driver<Rules, Change, never>, 'desired' | 'compile'>,
  unexplained: UnexplainedRules<Rules, Change>,
  changes: readonly ForwardingChange[],
  change?: Change,
): Promise<Compiled<Rules>> {
  const { desired } = driver;
  const candidates = new Map<ServicePortKey, Rules | undefined>();
  const failed: ServiceFailure[] = [];
  for (const { key, entry } of changes) {
    const present = desired.rules(key);
    let wanted: Rules | undefined;
    try {
      wanted = entry && driver.compile(entry, present);
    } catch (error) {
      failed.push({ key, reason: `cannot be compiled: ${errorMessage(error)}`, limitedBy: 'node' });
      continue;
    }
    const former = candidates.has(key) ? candidates.get(key) : present;
    const kept = entry && unexplained.explain(entry, wanted, change);
    candidates.set(key, former ?? kept);
    desired.replace(key, wanted, change);
    if (candidates.size % COMPILED_AT_ONCE === 0) await yieldToEventLoop();
  }
  return { candidates, failed };
}
