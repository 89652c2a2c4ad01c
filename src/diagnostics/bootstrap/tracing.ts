import type { EjectionStatus, EjectionLookup } from '../../application/status/port-status.js';
import { KernelForwarding } from '../../adapters/rtnetlink/kernel-forwarding.js';
import { NetlinkRoutes } from '../../adapters/rtnetlink/netlink-routes.js';
import { ExplainAddress, ejectedAt, rejectionOf } from '../application/explain/explain-address.js';
import { ExplainPort } from '../application/explain/explain-port.js';
import type { EndpointAnswers } from '../../application/traffic/endpoint-answers.js';
import { ServiceVerdicts } from '../../application/status/service-verdicts.js';
import type { ListedLoop } from '../application/status/list-services.js';
import type { LocalAddresses } from '../../application/ports/node/network.js';
import type { TracePackets } from '../application/trace/trace-packets.js';
import { tracePackets, type FamilyRules } from '../application/trace/traced-node.js';
import type { Packet } from '../domain/trace/trace.js';
import { modeInForce } from '../../bootstrap/configuration/proxy-configuration.js';
import type { ModeRules } from '../../diagnostics/bootstrap/mode-rules.js';
import type { ReadingParts } from '../../bootstrap/parts.js';

/** A family and its forwarding table, as a sync loop has both. */
type FamilyTable = Pick<ListedLoop, 'family' | 'table'>;

/** Explains whose an address is. */
export function explainAddress(
  parts: ReadingParts,
  tables: readonly FamilyTable[],
  verdicts = verdictsOf(parts, tables),
  ejectionTimes?: EjectionLookup,
  answers?: EndpointAnswers,
): ExplainAddress {
  const { commandLine, state, clusterEvents, contexts, localAddresses } = parts;
  const mode = modeInForce(commandLine.configuration);
  const explain = new ExplainPort(verdicts, ejectionTimes, mode, answers);
  return new ExplainAddress(explain, state, tables, {
    mode,
    isListed: () => clusterEvents.missing.length === 0,
    network: (family) => contexts.of(family, false).network,
    localAddresses: () => localAddresses.list(),
  });
}

/** The verdicts on Services by these tables, of which nothing is programmed. */
function verdictsOf(parts: ReadingParts, tables: readonly FamilyTable[]): ServiceVerdicts {
  const loops = tables.map((one) => ({ ...one, unreadObjects: [], isWaiting: () => false }));
  const { state, statuses, reports, clock } = parts;
  return new ServiceVerdicts({ state, statuses, reports, loops: () => loops }, clock);
}

/**
 * Has packets followed through the rules for these tables. Opens what that needs, and closes it afterwards.
 * @param addresses of this machine, which need not be the node
 * @param ejected missing: no endpoint is ejected
 */
export async function withTracing<Result>(
  parts: ReadingParts,
  tables: readonly FamilyTable[],
  addresses: LocalAddresses,
  rules: Pick<ModeRules, 'tracer'>,
  use: (packets: TracePackets) => Promise<Result>,
  ejected?: EjectionStatus,
): Promise<Result> {
  const { state, contexts } = parts;
  const explained = explainAddress(parts, tables, undefined, ejected?.ejectionTimes);
  const families = tables.map((one): FamilyRules => ({
    network: contexts.of(one.family, false).network,
    tracer: rules.tracer(one.family),
    entries: () => one.table.entries(),
  }));
  const routes = new NetlinkRoutes();
  const isForwarded = modeInForce(parts.commandLine.configuration) !== 'userspace';
  const forwarding = isForwarded ? new KernelForwarding() : undefined;
  try {
    const traced = { node: state.node, addresses, routes, forwarding };
    const destinations = {
      rejection: (packet: Packet) => rejectionOf(explained, packet),
      ejected: (packet: Packet) => ejectedAt(explained, packet, ejected?.portsWithEjections() ?? []),
    };
    return await use(tracePackets(traced, families, destinations));
  } finally {
    await Promise.all([routes.close(), forwarding?.close()]);
  }
}
