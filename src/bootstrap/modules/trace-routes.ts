import { traceRoutes as routesOfTrace } from '../../adapters/debug/trace-routes.js';
import type { Routes } from '../../adapters/http/router.js';
import { CannotTraceError, type TracePackets } from '../../application/trace/trace-packets.js';
import type { ProxyParts } from '../parts/proxy-parts.js';
import { withTracing } from './tracing.js';

/** Follows packets for whoever asks. Opens what it needs for each question, and keeps nothing. */
export function traceRoutes(parts: ProxyParts): Routes {
  const { mode, served, localAddresses, ejection } = parts;
  return routesOfTrace(async (query, rules, signal) => {
    const { tracer } = mode;
    if (!tracer) throw new CannotTraceError(`packets cannot be followed in mode ${mode.name}`);
    const loops = served.map(({ loop }) => loop);
    const follow = (packets: TracePackets) => packets.trace(query, rules, signal);
    return withTracing(parts, loops, localAddresses, tracer, follow, ejection);
  });
}
