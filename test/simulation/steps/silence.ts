import { clientsOf, packetOf } from '../checks/clients.js';
import { IPPROTO } from '../kernel/conntrack/ctnetlink.js';
import type { StepKind } from '../schedule/step-kind.js';

/** As many unanswered connections make an endpoint a suspect (docs/behavior/failover.md). */
const CONNECTIONS = 3;
/** Milliseconds: until it answers again, and until it has returned, if it was ejected before, from the longest ejection. */
const SILENT = 20_000;
const RETURNED = 330_000;

/** An endpoint of TCP falls silent, while clients connect to it and the node does; it may be ejected for half a minute. */
export const silence: StepKind = {
  name: 'silence',
  weight: 0,
  plan: () => [],
  perform({ history, world, mayBeEjected }) {
    const ports = history.ports;
    const port = ports.find(
      ({ frontends: [first], cluster }) => first!.protocol === 'TCP' && cluster.length > 1,
    );
    if (!port) return;
    const [endpoint] = port.cluster;
    const { address } = endpoint!;
    const { network, scheduler, fate, machine } = world;
    if (mayBeEjected.has(address)) return;
    network.silentHosts.add(address);
    mayBeEjected.add(address);
    scheduler.after(SILENT, () => network.silentHosts.delete(address), fate);
    scheduler.after(RETURNED, () => mayBeEjected.delete(address), fate);
    const { source, destination, destinationPort } = packetOf(port, clientsOf(port)[0]!, port.frontends[0]!);
    for (let index = 0; index < CONNECTIONS; index++)
      machine.connections.open(
        { protocol: IPPROTO.TCP, source, sourcePort: 50_000 + index, destination, destinationPort },
        () => endpoint,
      );
  },
};
