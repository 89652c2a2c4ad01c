import { inspectionLines } from '../../adapters/cli/migration/inspection-lines.js';
import { formatted } from '../../adapters/cli/output/formatted.js';
import { print } from '../../adapters/cli/output/print.js';
import { packetWords } from '../../adapters/cli/texts/comparison.js';
import { kernelSides } from '../../adapters/compare/kernel-sides.js';
import { supportedFamilies } from '../../adapters/process/ip-families.js';
import { errorMessage } from '../../application/error-message.js';
import { inspectedReport } from '../../application/migration/inspected-report.js';
import type { Logger } from '../../application/ports/logger.js';
import { KNOWN_DIFFERENCES } from '../../domain/compare/known-differences.js';
import type { SideMode } from '../../domain/compare/side.js';
import type { InspectedComparison, Inspection } from '../../domain/migration/inspection.js';
import { parseCidr, type Cidr } from '../../domain/net/cidr.js';
import { compareFamilies } from '../commands/compare.js';
import { plannedSides } from '../commands/planned-sides.js';
import type { Asked } from '../../diagnostics/bootstrap/asked.js';
import { withMode } from '../configuration/proxy-configuration.js';
import { chooseMode } from '../modes/choose-mode.js';
import { readNodeFacts } from './read-node-facts.js';

/** Prints what this node has of service proxies, and what the planned mode would change. Known differences do not count. */
export async function inspect(asked: Asked<'inspect'>, logger: Logger): Promise<number> {
  const { plan, output } = asked.request;
  const facts = await readNodeFacts(excludedBy(asked));
  const obstacle = plan && (await obstacleTo(plan, asked, logger));
  const comparison = plan && (await compareWith(plan, asked, logger));
  const inspection: Inspection = {
    facts: { ...facts, ...(obstacle !== undefined && { obstacle }) },
    ...(comparison && { comparison }),
  };
  await print(formatted(output, inspection, inspectionLines));
  return exitCode(inspection);
}

/** Why the mode cannot run on this machine. */
async function obstacleTo(
  mode: SideMode,
  asked: Asked<'inspect'>,
  logger: Logger,
): Promise<string | undefined> {
  const configuration = withMode(asked.configuration, mode);
  const { mode: chosen } = await chooseMode({ ...asked, configuration }, logger);
  try {
    await (await chosen.open('compare')).close();
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

async function compareWith(
  mode: SideMode,
  asked: Asked<'inspect'>,
  logger: Logger,
): Promise<InspectedComparison> {
  const planned = await plannedSides(asked, mode, true, logger);
  const kernel = await kernelSides(supportedFamilies(), {
    mode: asked.request.moved ? mode : undefined,
    proxiesOnly: true,
    excluded: excludedBy(asked),
  });
  const { families, notes } = compareFamilies(
    [kernel, planned.families],
    planned.node,
    asked.configuration.clusterCIDR,
    // They are counted by name, which is short however many Services there are.
    new Set(KNOWN_DIFFERENCES.map(({ name }) => name)),
  );
  return {
    families: families.map((family) => inspectedReport(family, packetWords)),
    notes,
    problems: planned.problems,
    schedulers: planned.schedulers,
  };
}

/** Where virtual servers are of others. */
function excludedBy({ configuration }: Asked<'inspect'>): readonly Cidr[] {
  return configuration.ipvs.excludeCIDRs.flatMap((text) => parseCidr(text) ?? []);
}

function exitCode({ facts, comparison }: Inspection): 0 | 1 | 2 {
  const families = comparison?.families ?? [];
  if (facts.obstacle !== undefined || families.some(({ differences }) => differences.length > 0)) return 1;
  return families.some(({ unknowns }) => unknowns.length > 0) ? 2 : 0;
}
