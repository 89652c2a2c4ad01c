import { IPPROTO, STATUS, type Connection } from '../kernel/conntrack/ctnetlink.js';
import type { Simulation } from '../simulation.js';

/**
 * A flow that leads to an endpoint that serves no more; undefined if there is none. One of another protocol than UDP counts
 * while it has no answer, and its frontend is there: nothing tells of frontends that went while no proxy ran. Of UDP, the rules of the
 * same mode do (docs/behavior/differences.md), unless a process was killed after it had removed them, or others removed them. At an address
 * that the node lost while no proxy ran, other programs may translate flows to the number of a node port: nothing tells theirs from ours
 * (docs/internals/simulation.md).
 */
export function staleFlow(simulation: Simulation): string | undefined {
  const { world, history, modes, lostUnseen, unknownFlows, mayForgetFrontends } = simulation;
  // A kernel that says at the first question that it knows no such list is believed, and the log says so.
  if (world.log.some(({ message }) => message.startsWith('connection tracking is unavailable')))
    return undefined;
  const ports = history.ports;
  const isUnknown = (address: string): boolean =>
    lostUnseen.has(address) && !world.machine.links.isLocal(address);
  const portsOf = ({ original }: Connection) =>
    ports.filter(({ frontends }) =>
      frontends.some(
        ({ protocol, address, port }) =>
          IPPROTO[protocol as keyof typeof IPPROTO] === original.protocol &&
          // Of a node port, whichever address it was opened to: the node may not have it any more.
          (address ?? original.destination) === original.destination &&
          port === original.destinationPort,
      ),
    );
  for (const connection of world.machine.connections.list()) {
    const { original, reply, status } = connection;
    if (isUnknown(original.destination)) continue;
    const isUdp = original.protocol === IPPROTO.UDP;
    if (!isUdp && (status & STATUS.SEEN_REPLY) !== 0) continue;
    const owners = portsOf(connection);
    if (owners.length === 0 && (!isUdp || modes.size > 1 || mayForgetFrontends)) unknownFlows.add(connection);
    if (unknownFlows.has(connection)) continue;
    simulation.active.add('flows to removed endpoints end');
    const isServed = owners.some(({ serving }) =>
      serving.some(({ address, port }) => address === reply.source && port === reply.sourcePort),
    );
    if (!isServed)
      return `packets of protocol ${original.protocol} to ${original.destination} ${original.destinationPort} still go to ${reply.source} ${reply.sourcePort}`;
  }
  return undefined;
}
