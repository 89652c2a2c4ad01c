import { NetlinkFlowEvents } from '../../adapters/conntrack/netlink-flow-events.js';
import { TrafficCount } from '../../application/traffic/traffic-count.js';
import { TrafficMetrics } from '../../application/traffic/traffic-metrics.js';
import { TrafficWatchers } from '../../application/traffic/traffic-watchers.js';
import { modeInForce } from '../configuration/proxy-configuration.js';
import type { Module } from '../parts/proxy-parts.js';

/** Counts the connections of Services while somebody watches. */
export const trafficModule = {
  trafficWatchers({ commandLine, served, localAddresses, clock, logger }) {
    const flowEvents = new NetlinkFlowEvents({
      throughIpvs: modeInForce(commandLine.configuration) === 'ipvs',
    });
    const log = logger.child({ caller: 'traffic' });
    const sources = {
      entries: () => served.flatMap(({ loop }) => [...loop.table.entries()]),
      localAddresses: () => localAddresses.list(),
    };
    return new TrafficWatchers(() => new TrafficCount(flowEvents, sources, clock, log), clock);
  },
  trafficMetrics({ commandLine, trafficWatchers, logger }) {
    const { serviceTrafficMetrics, serviceTrafficMetricsLimit } = commandLine.configuration;
    if (!serviceTrafficMetrics) return undefined;
    const log = logger.child({ caller: 'traffic' });
    return new TrafficMetrics(trafficWatchers, serviceTrafficMetricsLimit, log);
  },
} satisfies Module;
