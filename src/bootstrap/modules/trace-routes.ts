import { traceRoutes as routesOfTrace } from '../../adapters/debug/trace-routes.js';
import { NetlinkRoutes } from '../../adapters/rtnetlink/netlink-routes.js';
import { refusalOf } from '../../application/explain/refusal.js';
import { CannotTraceError } from '../../application/trace/trace-packets.js';
import { tracePackets, type FamilyRules } from '../../application/trace/traced-node.js';
import {
  CLUSTER_STATE,
  EXPLAIN_ADDRESS,
  LOCAL_ADDRESSES,
  MODE,
  NODE_CONTEXTS,
  SERVED_FAMILIES,
  TRACE_ROUTES,
} from '../identifiers.js';
import { provide } from '../injection/provider.js';

/** Follows packets for whoever asks. Opens what it needs for each question, and keeps nothing. */
export const traceRoutes = provide(
  TRACE_ROUTES,
  {
    state: CLUSTER_STATE,
    contexts: NODE_CONTEXTS,
    addresses: LOCAL_ADDRESSES,
    explained: EXPLAIN_ADDRESS,
    families: SERVED_FAMILIES,
    mode: MODE,
  },
  ({ state, contexts, addresses, explained, families, mode }) =>
    routesOfTrace(async (query, rules, signal) => {
      const { tracer } = mode;
      if (!tracer) throw new CannotTraceError(`packets cannot be followed in mode ${mode.name}`);
      const served = await Promise.all(
        families.map(async ({ family, loop }): Promise<FamilyRules> => ({
          family,
          network: contexts.of(family, false).network,
          tracer: await tracer(family),
          entries: () => loop.table.entries(),
        })),
      );
      const routes = new NetlinkRoutes();
      try {
        return await tracePackets({ node: state.node, addresses, routes }, served, (packet) =>
          refusalOf(explained, packet),
        ).trace(query, rules, signal);
      } finally {
        await routes.close();
      }
    }),
);
