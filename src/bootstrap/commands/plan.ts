import { once } from 'node:events';
import { supportedFamilies } from '../../adapters/process/ip-families.js';
import type { Logger } from '../../application/ports/logger.js';
import { planFamilies } from '../../application/use-cases/plan.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { Asked } from '../configuration/command-line.js';
import { chooseMode } from '../modes/choose-mode.js';
import { readObjects } from './reading/read-objects.js';

/**
 * Prints the rules that a sync would write, in the language of the mode's tool. Reads the source once; changes nothing.
 * 0 when all objects are in it, otherwise 1 with those that are not on standard error. Throws when nothing comes from the
 * API server for `timeout` milliseconds.
 */
export async function plan(asked: Asked<'plan'>, logger: Logger, timeout?: number): Promise<number> {
  const { commandLine, mode } = await chooseMode(asked, logger);
  const planner = await mode.planner();
  const families = supportedFamilies();
  const planned = chosenFamilies(asked.request.family, families);
  const options = { families, ...(timeout !== undefined && { timeout }) };
  return readObjects(commandLine, options, logger, async ({ state, contexts, problems }) => {
    const text = planFamilies(state, contexts, planned, planner);
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
    for (const reason of problems) process.stderr.write(`not planned: ${reason}\n`);
    return problems.length === 0 ? 0 : 1;
  });
}

function chosenFamilies(family: IpFamily | undefined, supported: readonly IpFamily[]): readonly IpFamily[] {
  if (!family) return supported;
  if (supported.includes(family)) return [family];
  throw new Error(`this machine cannot serve ${family}, so nothing would be written for it`);
}
