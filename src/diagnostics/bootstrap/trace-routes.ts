import { traceRoutes as routesOfTrace } from '../adapters/debug/trace-routes.js';
import type { Routes } from '../../adapters/http/router.js';
import { CannotTraceError, type TracePackets } from '../application/trace/trace-packets.js';
import type { ProxyParts } from '../../bootstrap/parts/proxy-parts.js';
import { ModeRules } from '../../diagnostics/bootstrap/mode-rules.js';
import { withTracing } from './tracing.js';

/** Follows packets for whoever asks. Opens what it needs for each question, and keeps nothing. */
export function traceRoutes(parts: ProxyParts): Routes {
  const { mode, served, localAddresses, ejection, commandLine, logger } = parts;
  const modeRules = new ModeRules(commandLine.configuration, logger, mode);
  return routesOfTrace(async (query, rules, signal) => {
    if (mode.isEmbedded) throw new CannotTraceError(`packets cannot be followed in mode ${mode.name}`);
    const loops = served.map(({ loop }) => loop);
    const follow = (packets: TracePackets) => packets.trace(query, rules, signal);
    return withTracing(parts, loops, localAddresses, modeRules, follow, ejection);
  });
}
