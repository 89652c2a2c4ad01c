import { NetlinkConntrack } from '../adapters/conntrack/netlink-conntrack.js';
import { KernelForwarding } from '../adapters/rtnetlink/kernel-forwarding.js';
import { NetlinkRoutes } from '../adapters/rtnetlink/netlink-routes.js';
import { ForwardingObstacles } from '../application/node/forwarding-obstacles.js';
import type { Logger } from '../application/ports/logger.js';
import type { CommandLine } from './configuration/command-line.js';
import { serveFamily } from './family/serve-family.js';
import { Container } from './injection/container.js';
import { runningParts } from './life-cycle/running-parts.js';
import { failoverModule } from './modules/failover-module.js';
import { serverModule } from './modules/server-module.js';
import { trafficModule } from './modules/traffic-module.js';
import type { OpenMode } from './modes/open-mode.js';
import type { Module, ProxyParts } from './parts/proxy-parts.js';
import { readingModules } from './reader.js';

/**
 * Puts the parts of a proxy together. Nothing runs yet.
 * @param replacements what counts instead of the parts of this program
 */
export function composeProxy(
  commandLine: CommandLine,
  mode: OpenMode,
  logger: Logger,
  replacements: Module = {},
): Container<ProxyParts> {
  const container: Container<ProxyParts> = Container.create<ProxyParts>({
    ...readingModules(commandLine, mode.families, logger),
    ...serverModule,
    ...trafficModule,
    ...failoverModule,
    mode: () => mode,
    packetCounters: () => mode.packetCounters,
    rejectedPackets: () => mode.rejectedPackets,
    conntrack: () => new NetlinkConntrack(),
    // In mode userspace packets pass through this process instead.
    forwardingObstacles: ({ served, localAddresses, clock, logger: root }) =>
      mode.name === 'userspace'
        ? undefined
        : new ForwardingObstacles(
            served.map(({ family, loop }) => ({ family, table: loop.table })),
            { forwarding: new KernelForwarding(), routes: new NetlinkRoutes(), addresses: localAddresses },
            clock,
            root.child({ caller: 'packet-forwarding' }),
          ),
    served: ({ families }) =>
      families.map((family) =>
        serveFamily(container.child({ family: () => family, backend: mode.backend }).parts),
      ),
    setUpMachine: () => async () => mode.setUp?.(),
    // A start that fails has changed nothing: the machine is set up when nothing but writing rules is left to do.
    ready({ awaitNode, setUpMachine }) {
      const promise = awaitNode.ready.then(setUpMachine);
      const failure = promise.then(() => new Promise<never>(() => {}));
      // Whoever runs the proxy listens from then on.
      failure.catch(() => {});
      return { promise, failure };
    },
    running: runningParts,
    ...replacements,
  });
  return container;
}
