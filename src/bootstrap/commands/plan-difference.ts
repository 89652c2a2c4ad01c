import type { FamilyDifference } from '../../application/difference/difference-report.js';
import { linesText } from '../../adapters/cli/output/formatted.js';
import { differenceLines } from '../../adapters/cli/texts/difference.js';
import { plannedDifference } from '../../application/difference/planned-difference.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { Mode } from '../modes/open-mode.js';
import type { ReadObjects } from './read-objects.js';

/**
 * What a first sync of these families would change in the kernel, for people; empty if nothing. Reads the kernel, changes nothing.
 * @param keepUnexplained rules stay that none of these objects explains
 * @throws when the mode cannot be opened, or the kernel cannot be read
 */
export async function planDifference(
  mode: Mode,
  { state, contexts, container }: ReadObjects,
  families: readonly IpFamily[],
  keepUnexplained: boolean,
): Promise<string> {
  const open = await mode.open('compare');
  try {
    const compared: FamilyDifference[] = [];
    for (const family of families.filter((each) => open.families.includes(each))) {
      const { backend } = container.child({ family: () => family, backend: open.backend }).parts;
      const context = contexts.of(family, true);
      compared.push(await plannedDifference(state, context, backend, { keepUnexplained }));
    }
    return linesText(differenceLines({ mode: open.name, families: compared }));
  } finally {
    await open.close();
  }
}
