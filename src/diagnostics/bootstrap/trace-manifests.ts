import { printError } from '../../adapters/cli/print-error.js';
import { podsOfCluster } from '../adapters/kubernetes/user-cluster.js';
import { answerRequest } from '../adapters/cli/commands/trace.js';
import type { Logger } from '../../application/ports/logger.js';
import type { ClusterPlace } from '../application/trace/named-ends.js';
import { ForwardingTable } from '../../domain/forwarding/forwarding-table.js';
import { IP_FAMILIES } from '../../domain/net/ip-family.js';
import { type Invocation, otherMachine, readObjects } from './read-objects.js';
import { chooseMode } from '../../bootstrap/modes/choose-mode.js';
import { withTracing } from './tracing.js';
import { ModeRules } from './mode-rules.js';

/** Reads the manifests once, and answers from them. Objects that are ignored are named on standard error. */
export async function traceManifests(invocation: Invocation<'trace'>, logger: Logger): Promise<number> {
  const { commandLine } = await chooseMode(invocation, logger);
  const { here, options } = otherMachine(logger);
  return readObjects(commandLine, options, logger, async ({ state, contexts, problems, parts }) => {
    for (const problem of problems) printError(`ignored: ${problem}`);
    const tables = IP_FAMILIES.map((family) => ({
      family,
      table: ForwardingTable.of(state, contexts.of(family, true).forwarding),
    }));
    return withTracing(parts, tables, here, new ModeRules(commandLine.configuration, logger), (packets) =>
      answerRequest(
        invocation.request,
        (query) => packets.trace(query, invocation.request.rules),
        () => Promise.resolve(placesIn(tables)),
        podsOfCluster(invocation),
      ),
    );
  });
}

function placesIn(tables: readonly { readonly table: ForwardingTable }[]): readonly ClusterPlace[] {
  return tables.flatMap(({ table }) =>
    [...table.services()].flatMap((service) =>
      table
        .entriesOf(service)
        .flatMap(({ name, family, frontends }) =>
          frontends.flatMap(({ kind, address, port }) =>
            kind === 'cluster-ip' && address !== undefined
              ? { service, port: name.port, number: port, protocol: name.protocol, family, address }
              : [],
          ),
        ),
    ),
  );
}
