import type { Connection } from '../kernel/conntrack/connection.js';
import { IPPROTO } from '../kernel/conntrack/ctnetlink.js';
import type { Simulation } from '../simulation.js';
import { ADDRESSES } from '../world/settings.js';

/** A flow of datagrams that leads to an endpoint that serves no more; undefined if there is none. */
export function staleFlow({ world, history }: Simulation): string | undefined {
  const ports = history.services.flatMap((service) => history.current(service));
  const isServed = ({ original, reply }: Connection): boolean =>
    ports.some(
      ({ family, frontends, serving }) =>
        frontends.some(
          ({ protocol, address = ADDRESSES[family].node, port }) =>
            protocol === 'UDP' && address === original.destination && port === original.destinationPort,
        ) && serving.some(({ address, port }) => address === reply.source && port === reply.sourcePort),
    );
  for (const connection of world.machine.connections.list()) {
    const { original, reply } = connection;
    if (original.protocol !== IPPROTO.UDP || isServed(connection)) continue;
    return `datagrams to ${original.destination} ${original.destinationPort} still go to ${reply.source} ${reply.sourcePort}`;
  }
  return undefined;
}
