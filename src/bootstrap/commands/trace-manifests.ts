import { complain } from '../../adapters/cli/output/print.js';
import { podsOfCluster } from '../../adapters/cli/cluster/pods-of-cluster.js';
import { answerRequest } from '../../adapters/cli/tracing/answer-request.js';
import { SystemClock } from '../../adapters/process/system-clock.js';
import type { Logger } from '../../application/ports/logger.js';
import type { ClusterPlace } from '../../application/trace/named-destination.js';
import { TracedAddresses } from '../../application/trace/traced-node.js';
import { ForwardingTable } from '../../domain/forwarding/forwarding-table.js';
import { IP_FAMILIES } from '../../domain/net/ip-family.js';
import type { Asked } from '../configuration/command-line.js';
import { chooseMode } from '../modes/choose-mode.js';
import { withTracing } from '../modules/tracing.js';
import { NodeAddresses } from '../node/local-addresses.js';
import type { ReadingModule } from '../parts/reading-parts.js';
import { readObjects } from './read-objects.js';

/** Reads the manifests once, and answers from them. Objects that are ignored are named on standard error. */
export async function traceManifests(asked: Asked<'trace'>, logger: Logger): Promise<number> {
  const { commandLine, mode } = await chooseMode(asked, logger);
  const machine = new NodeAddresses(new SystemClock(), logger);
  // The node may be another machine than this one.
  const replacements: ReadingModule = {
    localAddresses: ({ state }) => new TracedAddresses(machine, () => state.node),
  };
  const options = { families: IP_FAMILIES, replacements };
  return readObjects(commandLine, options, logger, async ({ state, contexts, problems, container }) => {
    for (const problem of problems) complain(`ignored: ${problem}`);
    const tables = IP_FAMILIES.map((family) => ({
      family,
      table: ForwardingTable.of(state, contexts.of(family, true).forwarding),
    }));
    return withTracing(
      container.parts,
      tables,
      machine,
      (family) => mode.tracer(family),
      (packets) =>
        answerRequest(
          asked.request,
          (query) => packets.trace(query, asked.request.rules),
          () => Promise.resolve(placesIn(tables)),
          podsOfCluster(asked),
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
