import { NetlinkFlowEvents } from '../../adapters/conntrack/events/netlink-flow-events.js';
import { trafficRoutes } from '../../adapters/debug/traffic-routes.js';
import { TrafficCount } from '../../application/traffic/traffic-count.js';
import { TrafficMetrics } from '../../application/traffic/traffic-metrics.js';
import { TrafficWatchers } from '../../application/traffic/traffic-watchers.js';
import { modeInForce } from '../configuration/proxy-configuration.js';
import {
  CLOCK,
  COMMAND_LINE,
  FLOW_EVENTS,
  LOCAL_ADDRESSES,
  LOGGER,
  SERVED_FAMILIES,
  TRAFFIC_METRICS,
  TRAFFIC_ROUTES,
  TRAFFIC_WATCHERS,
} from '../identifiers.js';
import { provide, type Module } from '../injection/provider.js';

/** Counts the connections of Services while somebody watches. */
export const trafficModule: Module = [
  provide(FLOW_EVENTS, { commandLine: COMMAND_LINE }, ({ commandLine }) => {
    const mode = modeInForce(commandLine.configuration);
    return new NetlinkFlowEvents({ throughIpvs: mode === 'ipvs' });
  }),
  provide(
    TRAFFIC_WATCHERS,
    {
      flowEvents: FLOW_EVENTS,
      families: SERVED_FAMILIES,
      addresses: LOCAL_ADDRESSES,
      clock: CLOCK,
      logger: LOGGER,
    },
    ({ flowEvents, families, addresses, clock, logger }) => {
      const log = logger.child({ caller: 'traffic' });
      const sources = {
        entries: () => families.flatMap(({ loop }) => [...loop.table.entries()]),
        localAddresses: () => addresses.list(),
      };
      return new TrafficWatchers(() => new TrafficCount(flowEvents, sources, clock, log), clock);
    },
  ),
  provide(
    TRAFFIC_METRICS,
    { commandLine: COMMAND_LINE, watchers: TRAFFIC_WATCHERS, logger: LOGGER },
    ({ commandLine, watchers, logger }) => {
      const { serviceTrafficMetrics, serviceTrafficMetricsLimit } = commandLine.configuration;
      if (!serviceTrafficMetrics) return undefined;
      return new TrafficMetrics(watchers, serviceTrafficMetricsLimit, logger.child({ caller: 'traffic' }));
    },
  ),
  provide(TRAFFIC_ROUTES, { watchers: TRAFFIC_WATCHERS }, ({ watchers }) => trafficRoutes(watchers)),
];
