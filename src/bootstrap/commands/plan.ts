import { once } from 'node:events';
import { Container } from 'inversify';
import { supportedFamilies } from '../../adapters/process/ip-families.js';
import type { Logger } from '../../application/ports/logger.js';
import { awaitLists, LISTING_TIMEOUT } from '../../application/use-cases/await-lists.js';
import { planFamilies } from '../../application/use-cases/plan.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { CommandLine } from '../configuration/command-line.js';
import {
  AWAIT_NODE,
  BACKENDS,
  CLOCK,
  CLUSTER_EVENTS,
  CLUSTER_SOURCE,
  CLUSTER_STATE,
  LOCAL_ADDRESSES,
  NODE_CONTEXTS,
  OBJECT_REPORTS,
} from '../identifiers.js';
import { chooseMode } from '../modes/choose-mode.js';
import { clusterModule } from '../modules/cluster-module.js';
import { eventsModule } from '../modules/events-module.js';
import { processModule } from '../modules/process-module.js';
import { serverModule } from '../modules/server-module.js';
import { syncModule } from '../modules/sync-module.js';

/**
 * Prints the rules that a sync would write, in the language of the mode's tool. Reads the source once; touches nothing.
 * 0 when all objects are in it, otherwise 1 with those that are not on standard error. Throws when nothing comes from the
 * API server for `patience` milliseconds.
 */
export async function plan(asked: CommandLine, logger: Logger, patience = LISTING_TIMEOUT): Promise<number> {
  const { commandLine, mode } = await chooseMode(asked, logger);
  const planner = await mode.planner();
  const families = supportedFamilies();
  const planned = chosenFamilies(commandLine, families);
  const container = new Container();
  container.load(
    processModule(commandLine, families, logger),
    clusterModule,
    eventsModule,
    syncModule,
    serverModule,
  );
  container.bind(BACKENDS).toConstantValue([]);
  const source = container.get(CLUSTER_SOURCE);
  const events = container.get(CLUSTER_EVENTS);
  const stopping = new AbortController();
  try {
    await source.start(events, stopping.signal);
    await awaitLists(source, patience, container.get(CLOCK));
    await events.complete;
    await container.get(AWAIT_NODE).ready;
    const text = planFamilies(container.get(CLUSTER_STATE), container.get(NODE_CONTEXTS), planned, planner);
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
    const reasons = [...container.get(OBJECT_REPORTS).rejected, ...source.problems];
    for (const reason of reasons) process.stderr.write(`not planned: ${reason}\n`);
    return reasons.length === 0 ? 0 : 1;
  } finally {
    stopping.abort();
    await source.stop();
    container.get(LOCAL_ADDRESSES).close?.();
  }
}

function chosenFamilies({ family }: CommandLine, supported: readonly IpFamily[]): readonly IpFamily[] {
  if (!family) return supported;
  if (supported.includes(family)) return [family];
  throw new Error(`this machine cannot serve ${family}, so nothing would be written for it`);
}
