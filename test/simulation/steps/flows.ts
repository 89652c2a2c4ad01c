import { rememberClient } from '../checks/client-memory.js';
import { clientsOf, packetOf } from '../checks/clients.js';
import type { ExpectedFrontend, ExpectedPort } from '../checks/expected-ports.js';
import { IPPROTO } from '../kernel/conntrack/ctnetlink.js';
import type { StepKind } from '../schedule/step-kind.js';
import type { Simulation } from '../simulation.js';

const AF = { IPv4: 2, IPv6: 10 } as const;
/** So long the clients go on, in milliseconds. */
const LASTS = 3_600_000;

/** Clients send to all ports, as the kernel leads them now, and go on for long; some of those of TCP are answered. */
export const flows: StepKind = {
  name: 'flows',
  weight: 2,
  plan: ({ services, settings }) => {
    // The connections of mode userspace end at the process.
    return services.size > 0 && settings.mode !== 'userspace' ? [] : undefined;
  },
  perform(simulation) {
    const { history } = simulation;
    if (simulation.modes.has('userspace')) return;
    rememberClient(simulation);
    let client = 20_000;
    for (const port of history.ports)
      for (const frontend of port.frontends) client += open(simulation, port, frontend, client);
  },
};

/** Opens one to each endpoint that the rules may choose. @returns how many */
function open(
  { world }: Simulation,
  port: ExpectedPort,
  frontend: ExpectedFrontend,
  sourcePort: number,
): number {
  const { walk, connections, servers } = world.machine;
  const [client] = clientsOf(port);
  const packet = packetOf(port, client!, frontend);
  const { source, destination, destinationPort } = packet;
  const endpoints = walk.walk(packet).flatMap(({ endpoint }) => endpoint ?? []);
  const protocol = IPPROTO[frontend.protocol as keyof typeof IPPROTO];
  endpoints.forEach((endpoint, index) => {
    const tuple = {
      protocol,
      source,
      sourcePort: sourcePort + index,
      destination,
      destinationPort,
    };
    const connection = connections.open(tuple, () => endpoint);
    if (connection && protocol === IPPROTO.TCP && (sourcePort + index) % 2 === 0) {
      connections.answer(connection);
      const id = {
        family: AF[port.family],
        protocol,
        address: destination,
        port: destinationPort,
        firewallMark: 0,
      };
      servers.countConnections(id, endpoint, { activeConnections: 1 });
    }
    if (connection) connections.update(connection, { expiresAt: world.now + LASTS });
  });
  return endpoints.length;
}
