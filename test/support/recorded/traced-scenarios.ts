import type { NodeSettings } from '../../../src/application/node/node-contexts.js';
import type { ResourceKind } from '../../../src/application/ports/cluster-source.js';
import type { Tracer } from '../../../src/diagnostics/application/ports/tracer.js';
import type { TraceAnswer } from '../../../src/diagnostics/application/trace/answer.js';
import { AssumedNode, MachineView } from '../../../src/diagnostics/application/trace/traced-node.js';
import { TracePackets, type TracedFamily } from '../../../src/diagnostics/application/trace/trace-packets.js';
import { ForwardingTable } from '../../../src/domain/forwarding/forwarding-table.js';
import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';
import { parseQuery, type TraceQuery } from '../../../src/diagnostics/domain/trace/query.js';
import { hostPort } from '../../../src/domain/net/address.js';
import { localAddresses, ownAddressTowards } from '../testbed/network.js';
import { clients } from './walk-testbed.js';
import { parsedObjects } from './parsed-objects.js';
import { InMemoryProxy } from '../nftables/in-memory-proxy.js';
import type { Family, Target } from '../testbed/probe-plan.js';
import type { Verdict } from '../testbed/probe.js';

/** Who traces: a machine that is the node of the test bed, or another one that knows only objects and configuration. */
export type Tracing = 'node' | 'elsewhere';

/** `trace` over the state of a recorded step. */
export function tracePackets(
  settings: NodeSettings,
  objects: string,
  tracerOf: (family: IpFamily) => Tracer,
  tracing: Tracing,
): TracePackets {
  const own = (): ReadonlySet<string> =>
    tracing === 'node' ? localAddresses : new AssumedNode(proxy.state.node!).localAddresses;
  const proxy: InMemoryProxy = new InMemoryProxy([], settings, () => [...own()]);
  for (const object of parsedObjects<{ readonly kind: ResourceKind }>(objects))
    proxy.events.applied(object.kind, object);
  const families = IP_FAMILIES.map((family): TracedFamily => {
    const { forwarding, network } = proxy.contexts.of(family, true);
    const table = new ForwardingTable();
    table.update(proxy.state, proxy.state.serviceKeys(), forwarding);
    const entries = () => table.entries();
    const view =
      tracing === 'node'
        ? new MachineView(localAddresses, routes)
        : new AssumedNode(proxy.state.node!, { network, entries });
    return { network, view, entries, tracer: tracerOf(family), podCIDRs: proxy.state.node!.podCIDRs };
  });
  return new TracePackets(families);
}

/** The routes of the test bed's node. */
const routes = {
  to(address: string) {
    const client = Object.values(clients).find(({ source }) => Object.values(source).includes(address));
    const device = localAddresses.has(address) ? 'lo' : (client?.inputInterface ?? 'elsewhere');
    return Promise.resolve({ source: ownAddressTowards(address), device });
  },
};

/** The query that asks what a probe found out. */
export function queryOf({ dst, port, proto }: Target, client: string, family: Family): TraceQuery {
  const source = clients[client]!.source[family];
  const from = client === 'node' ? 'node' : client === 'pod' ? source! : `outside:${source}`;
  return parseQuery(from, `${hostPort(dst, port)}/${proto}`);
}

/** What the probe would have seen of it. With session affinity it shows one endpoint of several, so none is named. */
export function verdictOf(answer: TraceAnswer): Verdict {
  const { outcome, endpoints, sourceRewrite, sticky, packet } = answer;
  const masq = { always: true, never: false, mixed: 'mixed' as const }[sourceRewrite];
  if (outcome !== 'forward') return outcome as Verdict;
  if (sticky) return packet.inputInterface === undefined ? { sticky } : { masq, sticky };
  return { to: endpoints.map(({ address, port }) => hostPort(address, port)).sort(), masq };
}
