import type { NodeContexts } from '../../application/node/node-contexts.js';
import type { Logger } from '../../application/ports/logger.js';
import { awaitLists, LISTING_TIMEOUT } from '../../application/use-cases/await-lists.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { CommandLine } from '../configuration/command-line.js';
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
import { provideValue, type Module } from '../injection/provider.js';
import { LifeCycle } from '../life-cycle/life-cycle.js';
import { addressesPart, sourcePart } from '../life-cycle/proxy-parts.js';
import { clusterModule } from '../modules/cluster-module.js';
import { eventsModule } from '../modules/events-module.js';
import { nodeModule } from '../modules/node-module.js';
import { processModule } from '../modules/process-module.js';
import { serverModule } from '../modules/server-module.js';
import { syncModule } from '../modules/sync-module.js';

/** All objects of the source, and what follows from them for this node. */
export interface ReadObjects {
  readonly state: ClusterState;
  readonly contexts: NodeContexts;
  /** What could not be read, or is not valid, with the reason. */
  readonly problems: readonly string[];
  /** Everything else that a proxy is composed of, but the parts of its families. */
  readonly container: Container;
}

export interface ReadingOptions {
  readonly families: readonly IpFamily[];
  /** What counts instead of the parts of a proxy. */
  readonly replacements?: Module;
  /** Milliseconds. */
  readonly timeout?: number;
}

/**
 * Reads the source once and calls `use` with what was read; changes nothing. Rejects when nothing comes from the API server for
 * the timeout.
 */
export async function readObjects<Result>(
  commandLine: CommandLine,
  { families, replacements = [], timeout = LISTING_TIMEOUT }: ReadingOptions,
  logger: Logger,
  use: (read: ReadObjects) => Promise<Result>,
): Promise<Result> {
  const container = Container.create().load(
    processModule(commandLine, families, logger),
    clusterModule,
    nodeModule,
    eventsModule,
    syncModule,
    serverModule,
    [provideValue(SERVED_FAMILIES, [])],
    replacements,
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
    const problems = [...reports.rejected, ...source.problems];
    return await use({ state, contexts, problems, container });
  } finally {
    await life.stop();
  }
}
