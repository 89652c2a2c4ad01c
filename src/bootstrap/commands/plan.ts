import { once } from 'node:events';
import { supportedFamilies } from '../../adapters/process/ip-families.js';
import type { Logger } from '../../application/ports/logger.js';
import { awaitLists, LISTING_TIMEOUT } from '../../application/use-cases/await-lists.js';
import { planFamilies } from '../../application/use-cases/plan.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { Asked } from '../configuration/command-line.js';
import {
  AWAIT_NODE,
  CLOCK,
  CLUSTER_EVENTS,
  CLUSTER_SOURCE,
  CLUSTER_STATE,
  LOCAL_ADDRESSES,
  NODE_CONTEXTS,
  OBJECT_REPORTS,
  SERVED_FAMILIES,
} from '../identifiers.js';
import { Container } from '../injection/container.js';
import { provideValue } from '../injection/provider.js';
import { LifeCycle } from '../life-cycle/life-cycle.js';
import { addressesPart, sourcePart } from '../life-cycle/proxy-parts.js';
import { chooseMode } from '../modes/choose-mode.js';
import { clusterModule } from '../modules/cluster-module.js';
import { eventsModule } from '../modules/events-module.js';
import { nodeModule } from '../modules/node-module.js';
import { processModule } from '../modules/process-module.js';
import { serverModule } from '../modules/server-module.js';
import { syncModule } from '../modules/sync-module.js';
import { planDifference } from './plan-difference.js';

/**
 * Prints the rules that a sync would write, in the language of the mode's tool, or with --diff what it would change. Reads the
 * source once; changes nothing. 0 when all objects are in it, and with --diff nothing differs; otherwise 1, with the objects that are
 * not in it on standard error. Throws when nothing comes from the API server for `timeout` milliseconds.
 */
export async function plan(asked: Asked<'plan'>, logger: Logger, timeout = LISTING_TIMEOUT): Promise<number> {
  const { commandLine, mode } = await chooseMode(asked, logger);
  const planner = await mode.planner();
  const families = supportedFamilies();
  const planned = chosenFamilies(asked.request.family, families);
  const container = Container.create().load(
    processModule(commandLine, families, logger),
    clusterModule,
    nodeModule,
    eventsModule,
    syncModule,
    serverModule,
    [provideValue(SERVED_FAMILIES, [])],
  );
  const { source, events, state, contexts, reports, awaitNode, addresses, clock } = container.resolve({
    source: CLUSTER_SOURCE,
    events: CLUSTER_EVENTS,
    state: CLUSTER_STATE,
    contexts: NODE_CONTEXTS,
    reports: OBJECT_REPORTS,
    awaitNode: AWAIT_NODE,
    addresses: LOCAL_ADDRESSES,
    clock: CLOCK,
  });
  const life = new LifeCycle(clock, logger);
  life.add(addressesPart(addresses), sourcePart(source, events));
  try {
    await life.start();
    await awaitLists(source, timeout, clock);
    await events.complete;
    await awaitNode.ready;
    const text = asked.request.diff
      ? await planDifference(mode, container, planned, asked.manifests.length > 0)
      : planFamilies(state, contexts, planned, planner);
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
    const reasons = [...reports.rejected, ...source.problems];
    for (const reason of reasons) process.stderr.write(`not planned: ${reason}\n`);
    const differs = asked.request.diff && text !== '';
    return reasons.length === 0 && !differs ? 0 : 1;
  } finally {
    await life.stop();
  }
}

function chosenFamilies(family: IpFamily | undefined, supported: readonly IpFamily[]): readonly IpFamily[] {
  if (!family) return supported;
  if (supported.includes(family)) return [family];
  throw new Error(`this machine cannot serve ${family}, so nothing would be written for it`);
}
