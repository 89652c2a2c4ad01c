import type { IptablesDesiredState } from '../../domain/iptables/state/desired-state.js';
import { displayName, servicePortKey, type ServicePortKey } from '../../domain/model/service-port-name.js';
import type { Candidate } from './candidates.js';
import type { NotedEntries } from './noted-entries.js';
import type { IptablesAdoptedRules } from '../../domain/iptables/state/adopted-rules.js';

/**
 * The candidates of a start that cannot know everything: those that entries explain and, when all of them have come, what
 * stands of other service ports, as it stands. A frontend that an entry has by now is not theirs any more.
 */
export function* withUnexplained(
  explained: Iterable<readonly [ServicePortKey, Candidate]>,
  left: IptablesAdoptedRules,
  entries: NotedEntries,
  composition: IptablesDesiredState,
): Generator<readonly [ServicePortKey, Candidate]> {
  yield* explained;
  const known = new Set<string>();
  for (const [, { name }] of entries.all()) known.add(displayName(name));
  for (const name of left.servicePorts()) {
    if (known.has(displayName(name))) continue;
    const { chains, entries: standing } = left.fragment(name)!;
    const kept = { chains, entries: standing.filter((entry) => !composition.isClaimed(entry)) };
    yield [servicePortKey(name), { wanted: kept, former: kept }];
  }
}
