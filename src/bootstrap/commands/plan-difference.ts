import type { FamilyDifference } from '../../application/difference/difference-report.js';
import { differenceText } from '../../application/difference/difference-text.js';
import { plannedDifference } from '../../application/difference/planned-difference.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { BACKEND, FAMILY } from '../family/identifiers.js';
import { CLUSTER_STATE, NODE_CONTEXTS } from '../identifiers.js';
import { Container } from '../injection/container.js';
import { provideValue } from '../injection/provider.js';
import type { Mode } from '../modes/open-mode.js';

/**
 * What a first sync of these families would change in the kernel, for people; empty if nothing. Reads the kernel, changes nothing.
 * @param container knows the objects, all of which have been read
 * @param keepUnexplained rules stay that none of these objects explains
 * @throws when the mode cannot be opened, or the kernel cannot be read
 */
export async function planDifference(
  mode: Mode,
  container: Container,
  families: readonly IpFamily[],
  keepUnexplained: boolean,
): Promise<string> {
  const { state, contexts } = container.resolve({ state: CLUSTER_STATE, contexts: NODE_CONTEXTS });
  const open = await mode.open('compare');
  try {
    const compared: FamilyDifference[] = [];
    for (const family of families.filter((each) => open.families.includes(each))) {
      const ofFamily = [open.backend, provideValue(FAMILY, family)];
      const { backend } = Container.create(container).load(ofFamily).resolve({ backend: BACKEND });
      const context = contexts.of(family, true);
      compared.push(await plannedDifference(state, context, backend, { keepUnexplained }));
    }
    return differenceText({ mode: open.name, families: compared });
  } finally {
    await open.close();
  }
}
