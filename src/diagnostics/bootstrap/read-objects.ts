/** Reads all objects of the source once, for commands that work without a running proxy. */

import type { NodeContexts } from '../../application/node/node-contexts.js';
import type { Logger } from '../../application/ports/logger.js';
import { awaitLists, LISTING_TIMEOUT } from '../../application/use-cases/await-lists.js';
import { type IpFamily, IP_FAMILIES } from '../../domain/net/ip-family.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { CommandLine } from '../../bootstrap/configuration/command-line.js';
import type { Providers, ReadingParts } from '../../bootstrap/parts.js';
import { LifeCycle } from '../../bootstrap/life-cycle.js';
import { addressesPart, composeReader, sourcePart } from '../../bootstrap/reader.js';
import { SystemClock } from '../../adapters/process/system-clock.js';
import type { LocalAddresses } from '../../application/ports/node/network.js';
import { TracedAddresses } from '../application/trace/traced-node.js';
import { NodeAddresses } from '../../bootstrap/this-node.js';
import type { Request, RequestFor } from '../adapters/cli/subcommands.js';

/** All objects of the source, and what follows from them for this node. */
export interface ReadObjects {
  readonly state: ClusterState;
  readonly contexts: NodeContexts;
  /** What could not be read, or is not valid, with the reason. */
  readonly problems: readonly string[];
  /** Everything else that a proxy is composed of, but the parts of its families. */
  readonly parts: ReadingParts;
}

interface ReadingOptions {
  readonly families: readonly IpFamily[];
  /** What counts instead of the parts of a proxy. */
  readonly replacements?: Partial<Providers<ReadingParts>>;
  /** Milliseconds. */
  readonly timeout?: number;
}

/**
 * Reads the source once and calls `use` with what was read; changes nothing. Rejects when nothing comes from the API server for
 * the timeout.
 */
export async function readObjects<Result>(
  commandLine: CommandLine,
  { families, replacements = {}, timeout = LISTING_TIMEOUT }: ReadingOptions,
  logger: Logger,
  use: (read: ReadObjects) => Promise<Result>,
): Promise<Result> {
  const parts = composeReader(commandLine, families, logger, replacements);
  const { source, clusterEvents, state, contexts, reports, awaitNode, clock } = parts;
  const life = new LifeCycle(clock, logger);
  life.add(addressesPart(parts), sourcePart(parts));
  try {
    await life.start();
    await awaitLists(source, timeout, clock);
    await clusterEvents.complete;
    await awaitNode.ready;
    const problems = [...reports.rejected, ...source.problems];
    return await use({ state, contexts, problems, parts });
  } finally {
    await life.stop();
  }
}

/** How objects are read for a node that may be another machine than this one, whose addresses are here, too. */
export function otherMachine(logger: Logger) {
  const here: LocalAddresses = new NodeAddresses(new SystemClock(), logger);
  const replacements: Partial<Providers<ReadingParts>> = {
    localAddresses: ({ state }) => new TracedAddresses(here, () => state.node),
  };
  return { here, options: { families: IP_FAMILIES, replacements } };
}

/** A command line with this subcommand. */
export type Invocation<Name extends Request['name']> = CommandLine & { readonly request: RequestFor<Name> };
