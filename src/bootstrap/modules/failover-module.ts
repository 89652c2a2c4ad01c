import { TcpEndpointConnector } from '../../adapters/endpoint-connections.js';
import { EjectSilentEndpoints } from '../../application/failover/eject-silent-endpoints.js';
import { EjectionReports } from '../../application/failover/ejection-reports.js';
import { FamilyLoops } from '../../application/use-cases/object-handler.js';
import type { Module } from '../parts/proxy-parts.js';

const BY_ITSELF =
  'in mode userspace no silent endpoint steps aside: each connection that gets no answer is tried with other endpoints instead';

/** Has silent endpoints step aside. */
export const failoverModule = {
  ejection(parts) {
    const { commandLine, conntrack, eventRecorder, clock, logger, mode } = parts;
    // It decides by what it sees of tracked connections for a while.
    if (commandLine.once || !conntrack) return undefined;
    const log = logger.child({ caller: 'failover' });
    const reports = new EjectionReports(commandLine.nodeName, eventRecorder, log);
    // What runs for the families is made of this.
    return new EjectSilentEndpoints(
      () => ({
        traffic: parts.trafficWatchers,
        recompute: (family, service) =>
          new FamilyLoops(parts.served.map(({ loop }) => loop)).note([family], (pending) =>
            pending.serviceChanged(service),
          ),
      }),
      reports,
      new TcpEndpointConnector(clock),
      clock,
      mode.name === 'userspace' ? BY_ITSELF : undefined,
    );
  },
} satisfies Module;
