import { supportedFamilies } from '../../adapters/process/host-facts.js';
import type { Logger } from '../../application/ports/logger.js';
import { planFamilies } from '../application/plan.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { Asked } from './asked.js';
import { chooseMode } from '../../bootstrap/modes/choose-mode.js';
import { print } from '../adapters/cli/output/print.js';
import { printError } from '../../adapters/cli/print-error.js';
import { ModeRules } from './mode-rules.js';
import { readObjects } from './read-objects.js';

/**
 * Prints the rules that a sync would write, in the language of the mode's tool. Reads the source once; changes nothing. 0 when all
 * objects are in it; otherwise 1, with the others on standard error. Throws when nothing comes from the API server for `timeout`
 * milliseconds.
 */
export async function plan(asked: Asked<'plan'>, logger: Logger, timeout?: number): Promise<number> {
  const { commandLine } = await chooseMode(asked, logger);
  const planner = await new ModeRules(commandLine.configuration, logger).planner();
  const families = supportedFamilies();
  const planned = chosenFamilies(asked.request.family, families);
  const options = { families, ...(timeout !== undefined && { timeout }) };
  return readObjects(commandLine, options, logger, async (read) => {
    await print(planFamilies(read.state, read.contexts, planned, planner));
    for (const reason of read.problems) printError(`not planned: ${reason}`);
    return read.problems.length === 0 ? 0 : 1;
  });
}

function chosenFamilies(family: IpFamily | undefined, supported: readonly IpFamily[]): readonly IpFamily[] {
  if (!family) return supported;
  if (supported.includes(family)) return [family];
  throw new Error(`this machine cannot serve ${family}, so nothing would be written for it`);
}
