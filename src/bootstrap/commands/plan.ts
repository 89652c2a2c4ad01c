import { once } from 'node:events';
import { Container } from 'inversify';
import { supportedFamilies } from '../../adapters/process/ip-families.js';
import type { Logger } from '../../application/ports/logger.js';
import { planFamilies } from '../../application/use-cases/plan.js';
import type { CommandLine } from '../configuration/command-line.js';
import {
  AWAIT_NODE,
  BACKENDS,
  CLUSTER_EVENTS,
  CLUSTER_SOURCE,
  CLUSTER_STATE,
  NODE_CONTEXTS,
} from '../identifiers.js';
import { chooseMode } from '../modes/choose-mode.js';
import { clusterModule } from '../modules/cluster-module.js';
import { eventsModule } from '../modules/events-module.js';
import { processModule } from '../modules/process-module.js';
import { serverModule } from '../modules/server-module.js';
import { syncModule } from '../modules/sync-module.js';

/** Prints the rules that a sync would write, in the language of the mode's tool. Reads the source once; touches nothing. */
export async function plan(asked: CommandLine, logger: Logger): Promise<number> {
  const { commandLine, mode } = await chooseMode(asked, logger);
  const planner = await mode.planner();
  const families = supportedFamilies();
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
    await events.complete;
    await container.get(AWAIT_NODE).ready;
    const text = planFamilies(container.get(CLUSTER_STATE), container.get(NODE_CONTEXTS), families, planner);
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
    return 0;
  } finally {
    stopping.abort();
    await source.stop();
  }
}
