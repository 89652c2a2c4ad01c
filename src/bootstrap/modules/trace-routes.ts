import { traceRoutes as routesOfTrace } from '../../adapters/debug/trace-routes.js';
import type { Routes } from '../../adapters/http/router.js';
import { NetlinkRoutes } from '../../adapters/rtnetlink/netlink-routes.js';
import type { ExplainAddress } from '../../application/explain/explain-address.js';
import { refusalOf } from '../../application/explain/refusal.js';
import { CannotTraceError } from '../../application/trace/trace-packets.js';
import { tracePackets, type FamilyRules } from '../../application/trace/traced-node.js';
import type { ProxyParts } from '../parts/proxy-parts.js';

/** Follows packets for whoever asks. Opens what it needs for each question, and keeps nothing. */
export function traceRoutes(parts: ProxyParts, explained: ExplainAddress): Routes {
  const { state, contexts, localAddresses: addresses, served, mode } = parts;
  return routesOfTrace(async (query, rules, signal) => {
    const { tracer } = mode;
    if (!tracer) throw new CannotTraceError(`packets cannot be followed in mode ${mode.name}`);
    const families = await Promise.all(
      served.map(async ({ family, loop }): Promise<FamilyRules> => ({
        network: contexts.of(family, false).network,
        tracer: await tracer(family),
        entries: () => loop.table.entries(),
      })),
    );
    const routes = new NetlinkRoutes();
    try {
      return await tracePackets({ node: state.node, addresses, routes }, families, (packet) =>
        refusalOf(explained, packet),
      ).trace(query, rules, signal);
    } finally {
      await routes.close();
    }
  });
}
