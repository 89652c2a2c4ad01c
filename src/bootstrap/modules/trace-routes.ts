import { traceRoutes as routesOfTrace } from '../../adapters/debug/trace-routes.js';
import { NetlinkRoutes } from '../../adapters/rtnetlink/netlink-routes.js';
import { CannotTraceError } from '../../application/trace/trace-packets.js';
import { tracePackets, type FamilyRules } from '../../application/trace/traced-node.js';
import {
  CLUSTER_STATE,
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
    families: SERVED_FAMILIES,
    mode: MODE,
  },
  ({ state, contexts, addresses, families, mode }) =>
    routesOfTrace(async (query, rules) => {
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
        return await tracePackets({ node: state.node, addresses, routes }, served).trace(query, rules);
      } finally {
        await routes.close();
      }
    }),
);
