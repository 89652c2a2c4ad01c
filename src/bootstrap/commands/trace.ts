import { SystemClock } from '../../adapters/process/system-clock.js';
import { NetlinkRoutes } from '../../adapters/rtnetlink/netlink-routes.js';
import { ExplainAddress } from '../../application/explain/explain-address.js';
import { ExplainPort } from '../../application/explain/explain-port.js';
import { refusalOf } from '../../application/explain/refusal.js';
import type { Logger } from '../../application/ports/logger.js';
import { ServiceStatuses } from '../../application/status/service-statuses.js';
import { TracedAddresses, tracePackets, type FamilyRules } from '../../application/trace/traced-node.js';
import { ForwardingTable } from '../../domain/forwarding/forwarding-table.js';
import { IP_FAMILIES, type IpFamily } from '../../domain/net/ip-family.js';
import type { Asked } from '../configuration/command-line.js';
import { modeInForce } from '../configuration/proxy-configuration.js';
import type { ReadingModule } from '../parts/reading-parts.js';
import { chooseMode } from '../modes/choose-mode.js';
import { NodeAddresses } from '../node/local-addresses.js';
import { complain } from '../../adapters/cli/output/print.js';
import { readObjects } from './read-objects.js';
import { answerRequest } from '../../adapters/cli/tracing/answer-request.js';
import { askProxy } from '../../adapters/cli/tracing/ask-proxy.js';
import { RunningProxy } from '../../adapters/cli/asking/running-proxy.js';

/**
 * Prints what becomes of packets. With manifests they are followed here, otherwise by the proxy running on this node. 1 if a query
 * of several could not be answered.
 */
export function trace(asked: Asked<'trace'>, logger: Logger): Promise<number> {
  const { request, manifests, configuration } = asked;
  if (manifests.length > 0) return traceManifests(asked, logger);
  return answerRequest(request, askProxy(RunningProxy.at(configuration.metricsBindAddress), request.rules));
}

/** Reads the manifests once, and answers from them. Objects that are ignored are named on standard error. */
async function traceManifests(asked: Asked<'trace'>, logger: Logger): Promise<number> {
  const { commandLine, mode } = await chooseMode(asked, logger);
  const machine = new NodeAddresses(new SystemClock(), logger);
  // The node may be another machine than this one.
  const replacements: ReadingModule = {
    localAddresses: ({ state }) => new TracedAddresses(machine, () => state.node),
  };
  const options = { families: IP_FAMILIES, replacements };
  return readObjects(commandLine, options, logger, async ({ state, contexts, problems }) => {
    for (const problem of problems) complain(`ignored: ${problem}`);
    const tables: { readonly family: IpFamily; readonly table: ForwardingTable }[] = [];
    const families = await Promise.all(
      IP_FAMILIES.map(async (family): Promise<FamilyRules> => {
        const { forwarding, network } = contexts.of(family, true);
        const table = ForwardingTable.of(state, forwarding);
        tables.push({ family, table });
        return { network, tracer: await mode.tracer(family), entries: () => table.entries() };
      }),
    );
    const explained = new ExplainAddress(new ExplainPort(state, new ServiceStatuses()), state, tables, {
      mode: modeInForce(commandLine.configuration),
      isListed: () => true,
      network: (family) => contexts.of(family, false).network,
      localAddresses: () => new TracedAddresses(machine, () => state.node).list(),
    });
    const routes = new NetlinkRoutes();
    try {
      const packets = tracePackets({ node: state.node, addresses: machine, routes }, families, (packet) =>
        refusalOf(explained, packet),
      );
      return await answerRequest(asked.request, (query) => packets.trace(query, asked.request.rules));
    } finally {
      await routes.close();
    }
  });
}
